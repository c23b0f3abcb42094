// What takes several calls: one panel for each, on every view, with how much is done, what is left, a button to stop it,
// one to go on where it was cut or stopped, and what became of it since.

import { toRedrive } from "./condition.js";
import { complain } from "./notices.js";
import { renew } from "./renew.js";
import { Problem, stayWhile, why } from "./server.js";
import { button, el, number, plain, span } from "./text.js";

// A pause as long as this is said.
const TELLING_MS = 2_000;
const place = document.getElementById("running");
const panels = new Set();
let overview = null;

// Waits, unless it is stopped meanwhile; a step that is under way is waited for.
function pause(ms, panel) {
  return new Promise((done) => {
    const timer = setTimeout(done, Math.max(ms, 0));
    panel.stop = () => {
      clearTimeout(timer);
      panel.stopped = true;
      done();
    };
  });
}

// Whatever is not whole yet is known to its panel only: leaving the page asks first, and being signed out does not leave it.
const isUnfinished = () => Array.from(panels).some((panel) => !panel.over);
stayWhile(isUnfinished);
addEventListener("beforeunload", (event) => {
  if (isUnfinished()) event.preventDefault();
});

// Calls `step` until it has nothing more to do. A step gives `{ said, done, of, pause, more }`: what to say of it, how
// much is done of how much, and for how many milliseconds to wait before the next one, so that the starts stay spread; one
// that fails may tell its `pause`, too. `destinations` are those whose numbers tell what became of it. What is `passing` leaves
// no panel when it is done, and is not gone on with. Gives whether it came to its end; where it did not, somebody may go on
// from the panel, and `ended` is called as often as it ends.
export async function run({ title, step, destinations = [], links = [], passing = false, ended = () => {} }) {
  const bar = el("progress");
  bar.setAttribute("aria-label", title);
  const since = el("p", "quiet");
  const panel = {
    since,
    destinations,
    from: null,
    told: "Asking…",
    // When the next step may be made.
    next: 0,
    stop: () => {},
    stopped: false,
    whole: false,
    // Nothing is left to go on with.
    over: false,
  };
  const said = el("p", "", panel.told);
  said.setAttribute("role", "status");
  const buttons = el("span", "buttons");
  panel.element = el(
    "div",
    "panel",
    el("p", "", el("strong", "", title)),
    bar,
    said,
    since,
    el("p", "buttons", ...links, buttons),
  );
  panels.add(panel);
  place.append(panel.element);
  place.hidden = false;
  begin(panel);
  const go = async () => {
    await part(panel, { title, step, bar, said, buttons });
    panel.over ||= passing;
    const on = panel.over ? [] : [button("Go on", go, "strong")];
    buttons.replaceChildren(...on, closing(panel));
    if (panel.whole && passing) close(panel);
    ended(panel.whole);
  };
  await go();
  return panel.whole;
}

// Steps, until nothing is left, one fails or it is stopped. What was begun before keeps its pause.
async function part(panel, { title, step, bar, said, buttons }) {
  panel.stopped = false;
  buttons.replaceChildren(button("Stop", () => panel.stop()));
  try {
    for (;;) {
      await pause(panel.next - performance.now(), panel);
      if (panel.stopped) break;
      const made = await step();
      panel.told = made.said;
      said.textContent = panel.told;
      bar.max = Math.max(made.of ?? made.done, 1);
      bar.value = made.done;
      panel.whole = !made.more;
      panel.over = panel.whole;
      if (panel.whole) return;
      panel.next = performance.now() + (made.pause ?? 0);
      if (made.pause >= TELLING_MS)
        said.textContent += ` The next in ${span(made.pause)}, so that the starts stay spread; keep the page open.`;
    }
    said.textContent = `${panel.told} Stopped.`;
  } catch (error) {
    // What is not as it was asked for, such as a destination that is gone, is not so the next time either.
    panel.over = error instanceof Problem && [400, 403, 404, 409].includes(error.status);
    panel.next = performance.now() + (error.pause ?? 0);
    const rest = panel.over ? "It ends here." : "Go on does the rest.";
    said.textContent = `${panel.told} Cut: ${plain(why(error), 300)}. ${rest}`;
    complain(error, title, rest);
  }
}

function closing(panel) {
  return button("Close", () => {
    close(panel);
    document.getElementById("head").focus();
  });
}

function close(panel) {
  panels.delete(panel);
  panel.element.remove();
  place.hidden = panels.size === 0;
}

// What is done is in the way of another view.
export function tidy() {
  for (const panel of panels) if (panel.over) close(panel);
}

function begin(panel) {
  if (panel.from !== null || overview === null) return;
  panel.from = Object.fromEntries(panel.destinations.map((name) => [name, overview.destinations[name] ?? {}]));
}

// Tells each panel the newest numbers.
export function follow(seen) {
  overview = seen;
  for (const panel of panels) {
    begin(panel);
    const lines = panel.destinations.slice(0, 8).map((name) => {
      const [was, is] = [panel.from[name], seen.destinations[name] ?? {}];
      const grown = (what) => number(Math.max((is[what] ?? 0) - (was[what] ?? 0), 0));
      return `${name}: ${grown("delivered")} delivered since, ${number(is.waiting ?? 0)} waiting, ${number(toRedrive({ dead: 0, expired: 0, ...is }))} dead letters`;
    });
    renew(panel.since, lines, () => lines.map((line) => el("span", "line-of", line)));
  }
}
