// Requests whose signature did not hold: time, source and why.

import { table } from "./tables.js";
import { bytes, el, foreign, name, none, number } from "./text.js";
import { moment } from "./time.js";

// In brief, or with all that is known of each and what `below` puts under the why.
export function refusals(caption, below = null) {
  const rest = [
    ["Clocks apart", (row) => (row.clock_distance_s === null ? none() : `${number(row.clock_distance_s)} s`)],
    ["Secrets tried", (row) => number(row.secrets_tried)],
    ["Body", (row) => el("span", "bound", bytes(row.body_length))],
    ["Content type", (row) => foreign(row.content_type)],
  ];
  return table({
    id: "refusals",
    caption,
    key: (row) => `${row.at} ${row.source}`,
    columns: [
      ["Time", (row) => moment(row.at)],
      ["Source", (row) => name(row.source)],
      ["Why", (row) => el("div", "why", foreign(row.reason, 300), below?.(row))],
      ["Near miss", (row) => foreign(row.near_miss, 300)],
      ...(below === null ? [] : rest),
    ],
  });
}
