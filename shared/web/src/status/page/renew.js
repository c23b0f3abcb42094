// Showing again what may have changed: what did not change keeps its elements, so that a selection, the focus or an
// open part in it is not lost every 2 seconds.

const shown = new WeakMap();

// Makes `made(value)` the children of an element, when the value is another than last time.
export function renew(element, value, made) {
  const text = JSON.stringify(value);
  if (shown.get(element) === text) return;
  const at = reachable(element).indexOf(document.activeElement);
  element.replaceChildren(...[made(value)].flat().filter((child) => child !== null));
  shown.set(element, text);
  if (at >= 0) reachable(element)[at]?.focus();
}

// What of an element the keyboard reaches, in its order.
function reachable(element) {
  return Array.from(element.querySelectorAll("a, button, input, select, summary"));
}

// Sets a text where it is another: a live region reads it aloud each time it is set.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Makes these the children of a parent, moving no more of them than needed.
export function place(parent, children) {
  children.forEach((child, n) => {
    const there = parent.childNodes[n];
    if (there !== child) parent.insertBefore(child, there ?? null);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}
