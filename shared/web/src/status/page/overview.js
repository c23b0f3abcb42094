// The first view: what is wrong now, the totals, the last hour, how destinations do, and what goes where.

import { conditionOf, troubles } from "./condition.js";
import { health } from "./health.js";
import { hour } from "./minutes.js";
import { to } from "./places.js";
import { refusals } from "./refusals.js";
import { renew } from "./renew.js";
import { retry } from "./rule.js";
import { get } from "./server.js";
import { board } from "./switchboard.js";
import { table } from "./tables.js";
import { el, foreign, link, name, number } from "./text.js";

export const title = "Overview";
const REFUSALS = 8;

// In the API's words, and in the page's.
const TOTALS = [
  ["received", "received"],
  ["stored", "stored"],
  ["repeats", "repeats"],
  ["repeats_with_other_body", "repeats with another body"],
  ["refused", "refused"],
  ["declined", "declined"],
  ["unrouted", "unrouted"],
  ["delivered", "delivered"],
  ["waiting", "waiting"],
  ["held", "held"],
  ["dead", "dead letters"],
  ["expired", "of these expired"],
];
const SIGNS = { failing: "✕ failing", late: "◷ late", dead: "✕ dead letters", held: "‖ held", refused: "! refused" };

function totals() {
  const values = TOTALS.map(([of]) => {
    const value = el("dd", "", "…");
    value.dataset.total = of;
    return value;
  });
  const made = el("dl", "totals", ...TOTALS.map(([, word], n) => el("div", "", el("dt", "", word), values[n])));
  made.id = "totals";
  return {
    element: made,
    show(overview) {
      for (const value of values) {
        const now = overview.totals[value.dataset.total];
        value.textContent = number(now);
        value.parentElement.dataset.some = now > 0;
        // Only where it changes what is left of the dead letters.
        value.parentElement.hidden = value.dataset.total === "expired" && now === 0;
      }
    },
  };
}

function needs(overview) {
  const found = troubles(overview);
  if (found.length === 0) {
    return el("p", "well", "✓ Nothing needs you: no destination fails or is held, and there is no dead letter.");
  }
  const items = found.map(({ sign, line, to: links }) => {
    const behind = links.flatMap((made, n) => (n === 0 ? [made] : [" · ", made]));
    return el("li", sign, el("strong", "sign", SIGNS[sign]), " ", el("span", "", ...line, " ", ...behind));
  });
  return el("ul", "needs", ...items);
}

// The lines without their ages, which move by themselves.
function needsKey(overview) {
  return troubles(overview).map(({ sign, line }) => [
    sign,
    ...line.map((part) => part.dataset?.of ?? part.textContent ?? part),
  ]);
}

export function routesTable() {
  return table({
    id: "routes",
    caption: "What goes where",
    key: (row) => `${row.source} ${row.kind}`,
    columns: [
      ["Source", (row) => (row.source === "*" ? "every source" : name(row.source))],
      ["Kind", (row) => (row.kind === "*" ? "every kind" : foreign(row.kind))],
      [
        "Destinations",
        (row) =>
          el("ul", "bare", ...row.deliver.map(({ to, action }) => el("li", "", name(to), ": ", foreign(action)))),
      ],
    ],
  });
}

function section(id, head, ...children) {
  const made = el("h2", "", head);
  made.id = id;
  const whole = el("section", "", made, ...children);
  whole.setAttribute("aria-labelledby", id);
  return whole;
}

export function open() {
  const now = el("div");
  const [sums, picture, destinations, drawing, routes] = [totals(), hour(), health(), board(), routesTable()];
  const refused = refusals("The newest requests whose signature did not hold");
  const queue = el("p", "quiet");
  const rule = el("div");
  rule.id = "retry";
  const never = el(
    "p",
    "line",
    "No configuration was applied yet: every source is unknown. Send one with ",
    el("code", "", "switchboard apply --config FILE --url URL"),
    ".",
  );
  never.id = "never-applied";
  never.hidden = true;
  const element = el(
    "div",
    "overview",
    section("now-head", "Now", now),
    section("totals-head", "Totals", sums.element),
    section("hour-head", "The last hour", picture.element),
    section("health-head", "Destinations", destinations.element, queue),
    section("routes-head", "Routes", never, drawing.element, routes.element),
    section("refused-head", "Refused", refused.element, el("p", "", link(to("refused"), "All of them, and why"))),
    section("retry-head", "Retry rule", rule),
  );

  return {
    element,
    hangsOn: ({ totals }) => totals.refused,
    read: () => get(`/api/refusals?limit=${REFUSALS}`),
    show({ overview, routes: what }, data) {
      renew(now, needsKey(overview), () => needs(overview));
      sums.show(overview);
      picture.show(overview.recent);
      const names = Object.keys(overview.destinations).sort();
      destinations.show(
        names.map((of) => ({
          name: of,
          condition: conditionOf(of, overview),
          health: overview.recent?.destinations[of] ?? null,
          totals: overview.destinations[of],
        })),
      );
      renew(queue, overview.recent?.queue ?? null, (depth) =>
        depth === null
          ? ""
          : `What is under way is known for the queue as a whole, and approximately: about ${number(depth.visible)} wait to be ` +
            `received, about ${number(depth.in_flight)} are under way, about ${number(depth.delayed)} come later.`,
      );
      if (what !== null) {
        drawing.show(overview, what);
        routes.show(what.items);
        renew(rule, what.retry, retry);
        never.hidden = what.configuration?.version !== null;
      }
      if (data) refused.show(data.items);
    },
  };
}
