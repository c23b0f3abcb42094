// A text with a button that copies it.

import { button, el, fill } from "./text.js";

async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without https a browser has no clipboard for pages; then the text is selected for the keyboard.
    getSelection().selectAllChildren(shown);
    return false;
  }
}

export function copyable(text, what) {
  const shown = fill(el("code", "whole"), text);
  const said = el("span", "quiet");
  said.setAttribute("role", "status");
  const pressed = button("Copy", async () => {
    said.textContent = (await copy(text, shown)) ? "Copied" : "Selected: press Ctrl+C";
  });
  pressed.setAttribute("aria-label", `Copy ${what}`);
  return el("span", "copyable", shown, " ", pressed, " ", said);
}
