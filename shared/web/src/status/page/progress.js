// What takes several calls: one panel for each, on every view, with how much is done, what is left, a button to stop it,
// and what became of it since.

import { complain } from "./notices.js";
import { renew } from "./renew.js";
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

// Calls `step` until it has nothing more to do. A step gives `{ said, done, of, pause, more }`: what to say of it, how
// much is done of how much, and for how many milliseconds to wait before the next one, so that the starts stay spread.
// `destinations` are those whose numbers tell what became of it. What is `passing` leaves no panel when it is done. Gives
// whether it came to its end.
export async function run({ title, step, destinations = [], links = [], passing = false }) {
  const bar = el("progress");
  bar.setAttribute("aria-label", title);
  const said = el("p", "", "asking…");
  said.setAttribute("role", "status");
  const since = el("p", "quiet");
  const panel = { since, destinations, stop: () => (panel.stopped = true), stopped: false, from: null };
  const end = button("Stop", () => panel.stop());
  panel.element = el(
    "div",
    "panel",
    el("p", "", el("strong", "", title)),
    bar,
    said,
    since,
    el("p", "buttons", ...links, end),
  );
  panels.add(panel);
  place.append(panel.element);
  place.hidden = false;
  begin(panel);
  let whole = false;
  try {
    for (;;) {
      const told = await step();
      said.textContent = told.said;
      bar.max = Math.max(told.of ?? told.done, 1);
      bar.value = told.done;
      whole = !told.more;
      if (whole || panel.stopped) break;
      if (told.pause >= TELLING_MS)
        said.textContent += ` The next in ${span(told.pause)}, so that the starts stay spread; keep the page open.`;
      await pause(told.pause ?? 0, panel);
      if (panel.stopped) break;
    }
    if (!whole) said.textContent += " Stopped.";
  } catch (error) {
    complain(error, title);
    said.textContent += " It did not end: the same again does the rest.";
  }
  if (whole && passing) close(panel);
  end.replaceWith(
    button("Close", () => {
      close(panel);
      document.getElementById("head").focus();
    }),
  );
  return whole;
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
      return `${name}: ${grown("delivered")} delivered since, ${number(is.waiting ?? 0)} waiting, ${number(is.dead ?? 0)} dead letters`;
    });
    renew(panel.since, lines, () => lines.map((line) => el("span", "line-of", line)));
  }
}
