// What takes several calls: one panel for each, on every view, with how much is done, what is left, a button to stop it,
// one to go on where it was cut or stopped, and what became of it since.

import { toRedrive } from "./condition.js";
import { complain } from "./notices.js";
import { renew } from "./renew.js";
import { stayWhile } from "./server.js";
import { button, el, number, span } from "./text.js";

// A pause as long as this is said.
const TELLING_MS = 2_000;
const place = document.getElementById("running");
const panels = new Set();
let overview = null;

// Waits, unless it is stopped meanwhile.
function pause(ms, panel) {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    panel.stop = () => {
      clearTimeout(timer);
      panel.stopped = true;
      done();
    };
  });
}

// Whatever is not whole yet is known to its panel only: leaving the page asks first, and being signed out does not leave it.
const isUnfinished = () => Array.from(panels).some((panel) => !panel.whole);
stayWhile(isUnfinished);
addEventListener("beforeunload", (event) => {
  if (isUnfinished()) event.preventDefault();
});

// Calls `step` until it has nothing more to do. A step gives `{ said, done, of, pause, more }`: what to say of it, how
// much is done of how much, and for how many milliseconds to wait before the next one, so that the starts stay spread.
// `destinations` are those whose numbers tell what became of it. What is `passing` leaves no panel when it is done. A step
// that failed, or one before which it was stopped, is made when it goes on. Gives whether it came to its end.
export async function run({ title, step, destinations = [], links = [], passing = false }) {
  const bar = el("progress");
  bar.setAttribute("aria-label", title);
  const said = el("p", "", "asking…");
  said.setAttribute("role", "status");
  const since = el("p", "quiet");
  const panel = { since, destinations, stop: () => {}, stopped: false, whole: false, from: null };
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
  do await part(panel, { title, step, bar, said, buttons });
  while (!panel.whole && (await goesOn(panel, buttons)));
  if (panel.whole && passing) close(panel);
  if (panel.whole) buttons.replaceChildren(closing(panel));
  return panel.whole;
}

// Steps, until nothing is left, one fails or it is stopped.
async function part(panel, { title, step, bar, said, buttons }) {
  panel.stopped = false;
  panel.stop = () => (panel.stopped = true);
  buttons.replaceChildren(button("Stop", () => panel.stop()));
  try {
    while (!panel.stopped) {
      const told = await step();
      said.textContent = told.said;
      bar.max = Math.max(told.of ?? told.done, 1);
      bar.value = told.done;
      panel.whole = !told.more;
      if (panel.whole) return;
      if (told.pause >= TELLING_MS)
        said.textContent += ` The next in ${span(told.pause)}, so that the starts stay spread; keep the page open.`;
      if (!panel.stopped) await pause(told.pause ?? 0, panel);
    }
    said.textContent += " Stopped.";
  } catch (error) {
    complain(error, title, "Go on there does the rest.");
    said.textContent += " Cut: Go on does the rest.";
  }
}

// Whether somebody wants the rest.
function goesOn(panel, buttons) {
  return new Promise((decide) => {
    const on = button("Go on", () => decide(true), "strong");
    buttons.replaceChildren(on, closing(panel, () => decide(false)));
  });
}

function closing(panel, also = () => {}) {
  return button("Close", () => {
    close(panel);
    also();
    document.getElementById("head").focus();
  });
}

function close(panel) {
  panels.delete(panel);
  panel.element.remove();
  place.hidden = panels.size === 0;
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
