// When the page reads again, by its own code over a clock that is moved by hand. Prints what came of each story.

import { readFileSync } from "node:fs";

const text = readFileSync(process.argv[2], "utf8");
const { keepReading } = await import(`data:text/javascript,${encodeURIComponent(text)}`);

// A page whose clock stands still until it is moved, and which counts its timers.
function page({ works = () => true, takes = 0 } = {}) {
  const timers = new Map();
  let last = 0;
  const told = { reads: [], most_timers: 0 };
  const listeners = [];
  const it = { now: 0, hidden: false, told };
  globalThis.performance = { now: () => it.now };
  globalThis.setTimeout = (run, wait, ...rest) => {
    last += 1;
    timers.set(last, { at: it.now + Math.max(wait, 0), run: () => run(...rest) });
    told.most_timers = Math.max(told.most_timers, timers.size);
    return last;
  };
  globalThis.clearTimeout = (timer) => timers.delete(timer);
  globalThis.document = {
    get hidden() { return it.hidden; },
    addEventListener: (_, run) => listeners.push(run),
  };
  // Runs everything that is due until then; between two timers, what was promised is kept.
  it.until = async (end) => {
    for (;;) {
      await new Promise(setImmediate);
      const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
      if (due === undefined) break;
      timers.delete(due[0]);
      it.now = Math.max(it.now, due[1].at);
      due[1].run();
    }
    it.now = end;
  };
  it.show = (seen) => {
    it.hidden = !seen;
    for (const run of listeners) run();
  };
  keepReading(async () => {
    told.reads.push(it.now);
    it.now += takes;
    return works(told.reads.length);
  }, () => {});
  return it;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const gaps = (times) => times.slice(1).map((time, n) => time - times[n]);
const stories = {};

let it = page();
await it.until(HOUR);
stories.seen_for_an_hour = { reads: it.told.reads.length, timers: it.told.most_timers };

it = page();
await it.until(10 * SECOND);
it.show(false);
const before = it.told.reads.length;
await it.until(10 * SECOND + HOUR);
const hidden = it.told.reads.length - before;
it.show(true);
// It read just before it was shown, and reads no more often than every second.
await it.until(11 * SECOND + HOUR);
stories.hidden_for_an_hour = { reads: hidden, when_seen_again: it.told.reads.length - before - hidden, timers: it.told.most_timers };

it = page({ works: () => false });
await it.until(HOUR / 10);
stories.failing = { gaps: gaps(it.told.reads).slice(0, 8), timers: it.told.most_timers };

it = page({ works: (n) => n !== 2 });
await it.until(20 * SECOND);
stories.mended = { gaps: gaps(it.told.reads).slice(0, 4), timers: it.told.most_timers };

it = page();
await it.until(10 * SECOND);
const then = it.told.reads.length;
for (let n = 0; n < 1000; n += 1) {
  it.show(n % 2 === 1);
  await it.until(10 * SECOND + n * 2);
}
stories.shown_and_hidden_for_two_seconds = { reads: it.told.reads.length - then, timers: it.told.most_timers };
it.show(true);
const calm = it.told.reads.length;
await it.until(22 * SECOND);
stories.afterwards_for_ten_seconds = { reads: it.told.reads.length - calm, timers: it.told.most_timers };

process.stdout.write(JSON.stringify(stories));
process.exit(0);
