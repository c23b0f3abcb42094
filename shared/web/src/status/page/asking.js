// Questions before something is changed, in a dialog, and the fields that they and the views share.

import { button, el } from "./text.js";

// Asks; gives the fields' values by name, or null when it was called off. Where there is nothing to fill in, the way back has the
// focus: what cannot be undone takes more than one key.
export function ask({ title, text, confirm, fields = [] }) {
  const dialog = el("dialog", "ask");
  const head = el("h2", "", title);
  head.id = "ask-head";
  dialog.setAttribute("aria-labelledby", head.id);
  const go = el("button", "strong", confirm);
  go.type = "submit";
  const back = button("Cancel", () => dialog.close());
  back.autofocus = fields.length === 0;
  const form = el(
    "form",
    "",
    head,
    ...[text].flat().map((line) => el("p", "", line)),
    ...fields,
    el("p", "buttons", go, back),
  );
  form.method = "dialog";
  dialog.append(form);
  document.body.append(dialog);
  return new Promise((answer) => {
    let values = null;
    form.addEventListener("submit", () => {
      values = Object.fromEntries(new FormData(form));
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(values);
    });
    dialog.showModal();
  });
}

// A field with its label: `<label>Source <input name=…></label>`.
export function field(label, name, input) {
  input.name = name;
  return el("label", "field", el("span", "", label), input);
}

export function input(type, value = "", more = {}) {
  const made = el("input");
  made.type = type;
  Object.assign(made, more);
  made.value = value;
  return made;
}

// A choice among names; the empty one stands for all of them.
export function choice(names, value, all) {
  const made = el("select");
  const known = value && !names.includes(value) ? [...names, value] : names;
  for (const [of, text] of [["", all], ...known.map((of) => [of, of])]) {
    const option = el("option", "", text);
    option.value = of;
    made.append(option);
  }
  made.value = value ?? "";
  return made;
}

export const PER_SECOND = 50;

// How many starts each second.
export function rate() {
  return field(
    "Starts each second",
    "per_second",
    input("number", String(PER_SECOND), { min: "1", max: "1000", step: "1", required: true }),
  );
}
