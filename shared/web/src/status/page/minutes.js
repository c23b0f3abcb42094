// The picture of the last hour: what was delivered in each minute stands above the line, what failed below it, and the
// events of the minute are a mark.

import { drawn, svg } from "./drawing.js";
import { el, many, number } from "./text.js";

// One scale above and below: as high again for what was delivered.
const BELOW = 44;
const ABOVE = 2 * BELOW;
const TOP = 18;
const LEFT = 40;
const RIGHT = 6;

const clock = (ms) => {
  const date = new Date(ms);
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
};

// The next number that is easy to read: 1, 2 or 5 times a power of ten.
function round(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

function told(minute, at) {
  return `${clock(at)} (${new Date(at).toISOString().slice(11, 16)} UTC): ${many(minute.events, "event")}, ${number(minute.deliveries)} delivered, ${number(minute.failures)} failed`;
}

function draw(width, { since, minutes }) {
  const start = Date.parse(since);
  const slot = (width - LEFT - RIGHT) / minutes.length;
  const needs = minutes.map(({ deliveries, events, failures }) => Math.max(deliveries / 2, events / 2, failures));
  const lowest = round(Math.max(1, ...needs));
  const highest = 2 * lowest;
  const line = TOP + ABOVE;
  const parts = [];
  for (const [y, text] of [
    [TOP, number(highest)],
    [line, "0"],
  ]) {
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }));
    parts.push(svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, text));
  }
  if (minutes.some((minute) => minute.failures > 0)) {
    parts.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: line + BELOW, y2: line + BELOW }));
    parts.push(svg("text", { class: "bad", x: LEFT - 6, y: line + BELOW + 4, "text-anchor": "end" }, number(lowest)));
  }
  minutes.forEach((minute, n) => {
    const x = LEFT + n * slot;
    const [up, down] = [(minute.deliveries / highest) * ABOVE, (minute.failures / lowest) * BELOW];
    const mark = line - (minute.events / highest) * ABOVE;
    const wide = Math.max(slot - 1, 1);
    parts.push(
      svg(
        "g",
        {},
        svg("title", {}, told(minute, start + n * 60_000)),
        svg("rect", { class: "hover", x, y: TOP, width: slot, height: ABOVE + BELOW }),
        up > 0
          ? svg("rect", { class: "delivered", x, y: line - Math.max(up, 1), width: wide, height: Math.max(up, 1) })
          : null,
        down > 0 ? svg("rect", { class: "failed", x, y: line + 1, width: wide, height: Math.max(down, 2) }) : null,
        minute.events > 0 ? svg("rect", { class: "events", x, y: mark - 1.5, width: wide, height: 3 }) : null,
      ),
    );
  });
  const every = width < 600 ? 20 : 10;
  for (let n = 0; n < minutes.length; n += every) {
    parts.push(svg("text", { x: LEFT + n * slot, y: line + BELOW + 18 }, clock(start + n * 60_000)));
  }
  parts.push(svg("text", { x: width - RIGHT, y: line + BELOW + 18, "text-anchor": "end" }, "now"));
  const height = line + BELOW + 24;
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...parts);
}

// The hour in one line, for whoever does not see the picture too.
function inWords(minutes) {
  const sum = (what) => minutes.reduce((all, minute) => all + minute[what], 0);
  return `${many(sum("events"), "event")}, ${number(sum("deliveries"))} attempts that delivered, ${number(sum("failures"))} that failed.`;
}

const key = (kind, text) => el("span", `key ${kind}`, text);

export function hour() {
  const place = el("div", "drawing");
  const words = el("p", "");
  const picture = drawn(place, draw);
  const legend = el(
    "p",
    "quiet keys",
    key("events", "events"),
    key("delivered", "delivered"),
    key("failed", "failed, below the line"),
  );
  return {
    element: el("div", "", words, place, legend),
    show(recent) {
      words.textContent = recent ? inWords(recent.minutes) : "Not known.";
      if (recent) picture.show({ since: recent.since, minutes: recent.minutes });
    },
  };
}
