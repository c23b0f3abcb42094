// When the page reads again: every 2 s, every 30 s while nobody sees it, and after growing pauses while it fails.
// There is one timer, and never two readings at once.

const USUAL = 2_000;
const LONGEST = 30_000;

// Calls `read` (which gives whether it worked) for as long as the page is open, and `tick` at least every 2 s while
// the page is seen.
export function keepReading(read, tick) {
  let timer;
  let reading = false;
  let again = false;
  let failures = 0;
  let ended = -Infinity;

  function pause() {
    const seen = failures === 0 ? USUAL : Math.min(USUAL * 2 ** (failures - 1), LONGEST);
    return document.hidden ? LONGEST : seen;
  }

  function plan(due) {
    clearTimeout(timer);
    const left = Math.max(due - performance.now(), 0);
    timer = setTimeout(step, document.hidden ? left : Math.min(left, USUAL), due);
  }

  async function step(due) {
    if (reading) return;
    if (performance.now() < due) {
      tick();
      plan(due);
      return;
    }
    reading = true;
    let worked = false;
    try {
      worked = await read();
    } catch (error) {
      console.error(error);
    }
    reading = false;
    failures = worked ? 0 : failures + 1;
    ended = performance.now();
    tick();
    plan(again ? ended : ended + pause());
    again = false;
  }

  document.addEventListener("visibilitychange", () => {
    if (reading) return;
    // Shown again: at once, but showing and hiding many times is no way to read more often than every second.
    plan(document.hidden ? ended + LONGEST : Math.max(performance.now(), ended + 1_000));
  });

  plan(performance.now());

  // Reads now, or once more after the reading that is under way, for somebody who asked for more.
  return () => {
    if (reading) again = true;
    else plan(performance.now());
  };
}
