// Tables that are shown again and again: a row that did not change stays the element it is, with its focus, its
// selection and whatever was opened or ticked in it.

import { place } from "./renew.js";
import { el } from "./text.js";

// A table of `columns` (`[head, row => cell]`), whose rows are told apart by `key`. Give it rows with `show`.
export function table({ id, caption, columns, key, none = "none" }) {
  const heads = columns.map(([head]) => {
    const made = el("th", "", head);
    made.scope = "col";
    return made;
  });
  const body = el("tbody");
  const made = el("table", "", el("caption", "", caption), el("thead", "", el("tr", "", ...heads)), body);
  if (id) made.id = id;
  let before = new Map();

  function rowOf(row) {
    const cells = columns.map(([head, cell]) => {
      const td = el("td", "", cell(row));
      // The heads become the labels of the narrow layout.
      td.dataset.label = head;
      return td;
    });
    return el("tr", "", ...cells);
  }

  function show(rows) {
    const now = new Map();
    const shown = rows.map((row) => {
      let of = key(row);
      // Two of the same key are told apart by their order.
      while (now.has(of)) of += "'";
      const text = JSON.stringify(row);
      const old = before.get(of);
      const tr = old?.text === text ? old.tr : rowOf(row);
      now.set(of, { text, tr });
      return tr;
    });
    before = now;
    place(body, shown.length > 0 ? shown : [only(none)]);
  }

  // A row that says something instead of showing something.
  function only(text) {
    const td = el("td", "none", text);
    td.colSpan = columns.length;
    return el("tr", "", td);
  }

  body.append(only("not read yet"));

  return { element: made, show };
}
