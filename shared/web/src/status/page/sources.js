// The view of sources: the address to give to each sender, and what last came from it.

import { copyable } from "./copying.js";
import { routesTable } from "./overview.js";
import { to } from "./places.js";
import { table } from "./tables.js";
import { el, link, many, name, number } from "./text.js";
import { ago } from "./time.js";

export const title = "Sources";

export function open() {
  const sources = table({
    id: "sources",
    caption: "Sources, and the addresses to give to senders",
    key: (row) => row.name,
    none: "no source is configured",
    columns: [
      ["Source", (row) => link(to("events", { source: row.name }), name(row.name))],
      ["Scheme", (row) => name(row.scheme)],
      ["Address", (row) => copyable(row.address, `the address of ${row.name}`)],
      ["Secrets", (row) => many(row.secrets, "secret")],
      ["Last event", (row) => ago(row.health?.last_event)],
      [
        "Last refusal",
        (row) => (row.health?.last_refusal ? link(to("refused"), ago(row.health.last_refusal)) : ago(null)),
      ],
      ["Stored", (row) => number(row.totals?.stored)],
      ["Repeats", (row) => number(row.totals?.repeats)],
      ["Refused", (row) => number(row.totals?.refused)],
      ["Unrouted", (row) => number(row.totals?.unrouted)],
    ],
  });
  const routes = routesTable();
  return {
    element: el(
      "div",
      "stack",
      el("section", "", el("h2", "", "Addresses"), sources.element),
      el("section", "", el("h2", "", "Routes"), routes.element),
    ),
    show({ overview, routes: what }) {
      if (what === null) return;
      sources.show(
        what.sources.map((source) => ({
          ...source,
          totals: overview.sources[source.name],
          health: overview.recent?.sources[source.name],
        })),
      );
      routes.show(what.items);
    },
  };
}
