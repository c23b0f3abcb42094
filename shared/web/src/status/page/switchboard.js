// The drawn switchboard: from each source by kind to each destination. The line out of a source carries how many events
// it stored, the line into a destination how its attempts of the last hour ended.

import { conditionOf, toRedrive } from "./condition.js";
import { drawn, svg } from "./drawing.js";
import { el, many, number, plain } from "./text.js";

const ROW = 48;
const BOX = 34;
// Below this the lines are too short to carry their counts: these stand in the boxes.
const NARROW = 640;
const NARROWEST = 300;
const MOST = 60;
const EVERY = "*";
const YOURS = "your-endpoint";

// What is drawn: the three columns and the lines between them, with all that is written on them.
export function planOf(overview, routes) {
  const items = overview.your_endpoint.set
    ? [...routes.items, { source: EVERY, kind: EVERY, deliver: [{ to: YOURS }] }]
    : routes.items;
  const kinds = items.slice(0, MOST);
  const sources = Array.from(
    new Set([...kinds.map((route) => route.source), ...routes.sources.map(({ name }) => name)]),
  );
  const reached = Array.from(new Set(kinds.flatMap((route) => route.deliver.map(({ to }) => to))));
  const order = (of) => {
    const rows = kinds.flatMap((route, n) => (route.deliver.some(({ to }) => to === of) ? [n] : []));
    return rows.reduce((sum, n) => sum + n, 0) / rows.length;
  };
  reached.sort((a, b) => order(a) - order(b));
  return {
    kinds: kinds.map((route) => ({ ...route, deliver: Array.from(new Set(route.deliver.map(({ to }) => to))) })),
    left: items.length - kinds.length,
    sources: sources.map((name) => ({ name, stored: overview.sources[name]?.stored })),
    destinations: reached.map((name) => ({
      name,
      condition: conditionOf(name, overview),
      health: overview.recent?.destinations[name] ?? { delivered: 0, failed: 0 },
      dead: overview.destinations[name] ? toRedrive(overview.destinations[name]) : 0,
      held: overview.destinations[name]?.held ?? 0,
    })),
  };
}

const curve = (x1, y1, x2, y2) => `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;

// A text that fits a width, at about 7 pixels for a letter.
function fitting(text, width) {
  const most = Math.max(Math.floor(width / 7), 3);
  const seen = Array.from(plain(text, 300));
  return seen.length > most ? `${seen.slice(0, most - 1).join("")}…` : seen.join("");
}

function box(x, y, width, kind, lines, whole) {
  const texts = lines.map((line, n) =>
    svg(
      "text",
      { class: n > 0 ? "under" : "", x: x + 8, y: y + (lines.length === 1 ? 4 : -3 + n * 14) },
      fitting(line, width - 14),
    ),
  );
  return svg(
    "g",
    { class: `box ${kind}` },
    svg("title", {}, plain(whole, 300)),
    svg("rect", { x, y: y - BOX / 2, width, height: BOX, rx: 5 }),
    ...texts,
  );
}

// A line that carries a count.
function trunk(from, to, y, kind, count) {
  return [
    svg("path", { class: `wire trunk ${kind}`, d: `M${from} ${y}H${to}` }),
    svg("text", { class: `carried ${kind}`, x: (from + to) / 2, y: y - 6, "text-anchor": "middle" }, count),
  ];
}

function draw(room, plan) {
  const width = Math.max(room, NARROWEST);
  const isNarrow = width < NARROW;
  const wide = isNarrow ? Math.floor(width * 0.27) : Math.min(Math.floor(width * 0.19), 220);
  const long = isNarrow ? 0 : Math.min(Math.floor(width * 0.13), 130);
  const rows = Math.max(plan.sources.length, plan.kinds.length, plan.destinations.length, 1);
  const height = rows * ROW + 8;
  const middle = (n, of) => 4 + ((n + 0.5) * rows * ROW) / of;
  const to = width - wide - 1;
  const [out, end] = [wide + long, isNarrow ? to - 6 : to - long - 20];
  const kind = Math.floor((out + end) / 2 - wide / 2);
  const sources = new Map(plan.sources.map(({ name }, n) => [name, middle(n, plan.sources.length)]));
  const destinations = new Map(plan.destinations.map(({ name }, n) => [name, middle(n, plan.destinations.length)]));
  const conditions = new Map(plan.destinations.map(({ name, condition }) => [name, condition]));
  const [under, over] = [[], []];
  plan.kinds.forEach((route, n) => {
    const y = middle(n, plan.kinds.length);
    under.push(svg("path", { class: "wire", d: curve(out, sources.get(route.source), kind, y) }));
    for (const of of route.deliver) {
      under.push(
        svg("path", { class: `wire ${conditions.get(of)}`, d: curve(kind + wide, y, end, destinations.get(of)) }),
      );
    }
    const every = route.kind === EVERY ? "every kind" : route.kind;
    over.push(box(kind, y, wide, "kind", [every], every));
  });
  for (const { name, stored } of plan.sources) {
    const y = sources.get(name);
    const [text, count] = name === EVERY ? ["every source", ""] : [name, number(stored ?? 0)];
    if (!isNarrow) over.push(...trunk(wide, out, y, "", count));
    const lines = isNarrow && count ? [text, count] : [text];
    over.push(box(1, y, wide, "source", lines, count ? `${text}: ${count} stored` : text));
  }
  for (const of of plan.destinations) {
    const y = destinations.get(of.name);
    if (!isNarrow) over.push(...trunk(end, to, y, of.condition, carried(of.health)));
    const sign = isNarrow ? end - 10 : end + 4;
    if (of.condition === "failing")
      over.push(svg("path", { class: "cross", d: `M${sign} ${y - 7}l14 14m0 -14l-14 14` }));
    if (of.condition === "held") over.push(svg("path", { class: "bars", d: `M${sign + 4} ${y - 8}v16m6 -16v16` }));
    const second = isNarrow ? carried(of.health) : standing(of);
    over.push(box(to, y, wide, of.condition, [of.name, second].filter(Boolean), inWords(of)));
  }
  const label = "From sources by kind to destinations; the table of routes says the same";
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    ...under,
    ...over,
  );
}

function carried({ delivered, failed }) {
  return failed > 0 ? `${number(delivered)} ✓ ${number(failed)} ✕` : `${number(delivered)} ✓`;
}

function standing({ condition, dead, held }) {
  const words = [
    ["failing", "late"].includes(condition) ? condition : "",
    held > 0 || condition === "held" ? `${number(held)} held` : "",
    dead > 0 ? `${number(dead)} dead` : "",
  ];
  return words.filter(Boolean).join(" · ");
}

function inWords({ name, condition, health, dead, held }) {
  return (
    `${name}: ${condition}; in the last hour ${number(health.delivered)} attempts delivered and ` +
    `${number(health.failed)} failed; ${many(dead, "dead letter")}, ${number(held)} held`
  );
}

export function board() {
  const place = el("div", "drawing scroll");
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", "The switchboard, drawn");
  const left = el("p", "quiet");
  const legend = el(
    "p",
    "quiet",
    "Out of a source: events stored. Into a destination: attempts of the last hour, ✓ delivered, ✕ failed.",
  );
  const picture = drawn(place, draw);
  return {
    element: el("div", "", place, legend, left),
    show(overview, routes) {
      const plan = planOf(overview, routes);
      picture.show(plan);
      left.textContent = plan.left > 0 ? `${many(plan.left, "route")} more stand in the table only.` : "";
    },
  };
}
