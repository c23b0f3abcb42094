// What an operator is told of what they did: one line at a time, read aloud, until the next one or until it is closed.

import { why } from "./server.js";
import { button, el, plain } from "./text.js";

const place = document.getElementById("notices");

// What was said of another view is in the way.
export function hush() {
  place.replaceChildren();
}

function show(kind, children) {
  const close = button("Close", hush, "link");
  place.replaceChildren(el("p", `notice ${kind}`, ...children, " ", close));
}

export function tell(...children) {
  show("good", children);
}

// `rest` says what becomes of the rest, where something was done before it failed.
export function complain(error, doing, rest = "The same again moves the rest.") {
  console.warn(error);
  const moved = error.told?.moved;
  const half = moved > 0 ? ` ${moved} were moved before that. ${rest}` : "";
  show("bad", [`${doing}: ${plain(why(error), 300)}.${half}`]);
}

// Does something for as long as a button cannot be pressed again; tells when it fails.
export async function act(pressed, doing, work) {
  if (pressed.getAttribute("aria-busy") === "true") return;
  // Not disabled: that would take the focus away.
  pressed.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    complain(error, doing);
  } finally {
    pressed.removeAttribute("aria-busy");
  }
}
