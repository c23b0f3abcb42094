// The drawn switchboard: from each source by kind to each destination. The line out of a source carries what it stored,
// the line into a destination what happened to its attempts in the last hour.

import { conditionOf } from "./condition.js";
import { drawn, svg } from "./drawing.js";
import { el, many, number, plain } from "./text.js";

const ROW = 48;
const BOX = 36;
const NARROWEST = 640;
const MOST = 60;
const EVERY = "*";
const YOURS = "your-endpoint";

// What is drawn: the three columns and the lines between them, with all that is written on them.
export function planOf(overview, routes) {
  const items = overview.your_endpoint.set
    ? [...routes.items, { source: EVERY, kind: EVERY, deliver: [{ to: YOURS }] }]
    : routes.items;
  const kinds = items.slice(0, MOST);
  const sources = Array.from(new Set([...kinds.map((route) => route.source), ...routes.sources.map(({ name }) => name)]));
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
      dead: overview.destinations[name]?.dead ?? 0,
      held: overview.destinations[name]?.held ?? 0,
    })),
  };
}

const curve = (x1, y1, x2, y2) => `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;

function box(x, y, width, kind, lines, whole) {
  // About 7 pixels for a letter of the drawing.
  const fits = Math.floor((width - 16) / 7);
  const texts = lines.map((line, n) =>
    svg("text", { class: n > 0 ? "under" : "", x: x + 8, y: y + (lines.length === 1 ? 23 : 15 + n * 15) }, plain(line, n > 0 ? 60 : fits)));
  return svg("g", { class: `box ${kind}` }, svg("title", {}, plain(whole ?? lines.join(", "), 300)),
    svg("rect", { x, y, width, height: BOX, rx: 5 }), ...texts);
}

function said({ condition, health, dead, held }) {
  const done = `${number(health.delivered)} ✓`;
  const failed = health.failed > 0 ? ` ${number(health.failed)} ✕` : "";
  const more = condition === "held" ? ` · ${number(held)} held` : dead > 0 ? ` · ${number(dead)} dead` : "";
  return `${done}${failed}${more}`;
}

function draw(room, plan) {
  const width = Math.max(room, NARROWEST);
  const wide = Math.min(Math.floor(width * 0.2), 220);
  const rows = Math.max(plan.sources.length, plan.kinds.length, plan.destinations.length, 1);
  const height = rows * ROW + 8;
  const middle = (n, of) => 4 + ((n + 0.5) * rows * ROW) / of;
  const x = { kind: Math.floor(width * 0.37 - wide / 2 + 10), to: width - wide - 1 };
  const at = {
    source: new Map(plan.sources.map(({ name }, n) => [name, middle(n, plan.sources.length)])),
    to: new Map(plan.destinations.map(({ name }, n) => [name, middle(n, plan.destinations.length)])),
  };
  const conditions = new Map(plan.destinations.map(({ name, condition }) => [name, condition]));
  const under = [];
  const over = [];
  const end = x.to - Math.floor(width * 0.15);
  plan.kinds.forEach((route, n) => {
    const y = middle(n, plan.kinds.length);
    under.push(svg("path", { class: "wire", d: curve(wide, at.source.get(route.source), x.kind, y) }));
    for (const to of route.deliver) {
      under.push(svg("path", { class: `wire ${conditions.get(to)}`, d: curve(x.kind + wide, y, end, at.to.get(to)) }));
    }
    const every = route.kind === EVERY ? "every kind" : route.kind;
    over.push(box(x.kind, y - BOX / 2, wide, "kind", [every]));
  });
  for (const { name, stored } of plan.sources) {
    const lines = [name === EVERY ? "every source" : name];
    if (stored !== undefined) lines.push(`${number(stored)} stored`);
    over.push(box(1, at.source.get(name) - BOX / 2, wide, "source", lines));
  }
  for (const of of plan.destinations) {
    const y = at.to.get(of.name);
    under.push(svg("path", { class: `wire trunk ${of.condition}`, d: `M${end} ${y}H${x.to}` }));
    if (of.condition === "failing") {
      const middle = (end + x.to) / 2;
      over.push(svg("path", { class: "cross", d: `M${middle - 6} ${y - 6}l12 12m0 -12l-12 12` }));
    }
    over.push(box(x.to, y - BOX / 2, wide, of.condition, [`${of.name}${mark(of.condition)}`, said(of)], inWords(of)));
  }
  const label = "From sources by kind to destinations; the table of routes says the same";
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...under, ...over);
}

function mark(condition) {
  return { failing: " failing", held: " held", late: " late" }[condition] ?? "";
}

function inWords({ name, condition, health, dead, held }) {
  return `${name}: ${condition}; in the last hour ${number(health.delivered)} attempts delivered and ` +
    `${number(health.failed)} failed; ${many(dead, "dead letter")}, ${number(held)} held`;
}

export function board() {
  const place = el("div", "drawing scroll");
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", "The switchboard, drawn");
  const left = el("p", "quiet");
  const picture = drawn(place, draw);
  return {
    element: el("div", "", place, left),
    show(overview, routes) {
      const plan = planOf(overview, routes);
      picture.show(plan);
      left.textContent = plan.left > 0 ? `${many(plan.left, "route")} more stand in the table only.` : "";
    },
  };
}
