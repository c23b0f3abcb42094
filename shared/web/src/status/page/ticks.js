// Which dead letters are chosen: stays over readings, and goes with the letters that go.

import { el } from "./text.js";

export function ticks(changed) {
  const chosen = new Map();
  const all = el("input");
  all.type = "checkbox";
  const boxes = () => document.querySelectorAll("#dead-letters [data-delivery]");
  let rows = [];
  all.addEventListener("change", () => {
    for (const row of rows) all.checked ? chosen.set(row.delivery, row) : chosen.delete(row.delivery);
    for (const box of boxes()) box.checked = all.checked;
    changed();
  });
  return {
    chosen,
    all,
    set(row, is) {
      is ? chosen.set(row.delivery, row) : chosen.delete(row.delivery);
      changed();
    },
    shown(now) {
      rows = now;
      const there = new Set(rows.map((row) => row.delivery));
      for (const id of chosen.keys()) if (!there.has(id)) chosen.delete(id);
      all.checked = rows.length > 0 && chosen.size === rows.length;
      all.indeterminate = chosen.size > 0 && !all.checked;
      changed();
    },
  };
}
