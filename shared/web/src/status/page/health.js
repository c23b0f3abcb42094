// How destinations do, as a table: attempts of the last hour, and what stands now.

import { rate, toRedrive } from "./condition.js";
import { to } from "./places.js";
import { table } from "./tables.js";
import { el, foreign, link, name, none, number, span, state } from "./text.js";
import { ago } from "./time.js";

const bound = (value) => (value ? el("span", "bound", `${value.or_more ? "over" : "≤"} ${span(value.ms)}`) : none());

export function health() {
  return table({
    id: "health",
    caption: "Destinations: attempts of the last hour, and what stands now",
    key: (row) => row.name,
    columns: [
      ["Destination", (row) => link(to("destinations"), name(row.name))],
      ["Now", (row) => el("span", `condition ${row.condition}`, row.condition)],
      ["Success", (row) => (row.health ? rate(row.health) : "–")],
      ["Answer p50", (row) => bound(row.health?.p50_ms)],
      ["Answer p95", (row) => bound(row.health?.p95_ms)],
      [
        "Last failure",
        (row) => {
          const last = row.health?.last_failure;
          return last ? el("span", "", foreign(last.why, 200), " ", ago(last.at)) : "–";
        },
      ],
      ["In flight", (row) => (typeof row.health?.in_flight === "number" ? number(row.health.in_flight) : "–")],
      ["Oldest waiting due", (row) => ago(row.health?.oldest_due)],
      ["Waiting", (row) => number(row.totals.waiting)],
      ["Held", (row) => number(row.totals.held)],
      [
        "Dead",
        (row) => {
          const dead = toRedrive(row.totals);
          return dead > 0 ? link(to("failed", { destination: row.name }), state("dead", dead)) : "0";
        },
      ],
    ],
  });
}
