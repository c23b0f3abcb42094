// How texts and numbers become elements. Texts of senders and destinations are only ever text nodes: cut, isolated
// from the text around them, and with every character made visible that a reader could not see.

// Controls, soft hyphen, zero-width, direction-changing, line-separating, invisible and tag characters.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
const LONGEST = 120;
const LONGEST_TITLE = 1000;

export function el(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(text, act, name = "") {
  const made = el("button", name, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

export function link(to, ...children) {
  const made = el("a", "", ...children);
  made.href = to;
  return made;
}

function escaped(char) {
  return `\\u{${char.codePointAt(0).toString(16)}}`;
}

// Fills an element with a text that is not ours; `but` are unseen characters that may stand as they are.
export function fill(made, chars, but = "") {
  let run = "";
  for (const char of chars) {
    if (UNSEEN.test(char) && !but.includes(char)) {
      made.append(run, el("span", "unseen", escaped(char)));
      run = "";
    } else {
      run += char;
    }
  }
  made.append(run);
  return made;
}

// The same as a bare text, for places that hold no elements.
export function plain(text, longest = LONGEST) {
  const all = Array.from(String(text));
  const seen = all.slice(0, longest).map((char) => (UNSEEN.test(char) ? escaped(char) : char));
  return seen.join("") + (all.length > longest ? "…" : "");
}

export function none() {
  return el("span", "none", "–");
}

// A text that is not ours.
export function foreign(text, longest = LONGEST) {
  if (text === null || text === undefined || text === "") return none();
  const all = Array.from(String(text));
  const made = fill(el("bdi"), all.slice(0, longest));
  if (all.length > longest) {
    made.append(el("span", "cut", "…"));
    made.title = plain(text, LONGEST_TITLE);
  }
  return made;
}

// A configured name: short and plain, so it breaks at its hyphens only.
export function name(text) {
  const made = foreign(text);
  made.classList.add("name");
  return made;
}

export function code(text) {
  return el("code", "", foreign(text, 200));
}

// An id of ours, short enough for a table: whole on hover.
export function short(id) {
  const made = el("code", "short", `${id.slice(0, 12)}…`);
  made.title = id;
  return made;
}

const NUMBERS = new Intl.NumberFormat("en");

export function number(value) {
  return typeof value === "number" ? NUMBERS.format(value) : "…";
}

// "1 event", "3 events".
export function many(count, one, more = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : more}`;
}

export function bytes(value) {
  if (value >= 1024 * 1024) return `${NUMBERS.format(Math.round(value / 1024 / 102.4) / 10)} MiB`;
  if (value >= 10 * 1024) return `${NUMBERS.format(Math.round(value / 1024))} KiB`;
  return many(value, "byte");
}

// A duration as it is spoken: 90000 -> "1.5 min".
export function span(ms) {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
  ];
  const [unit, size] = units.find(([, size]) => ms >= size) ?? ["ms", 1];
  return `${NUMBERS.format(Math.round((ms / size) * 10) / 10)} ${unit}`;
}

// A list in words: "a, b and c".
export function list(words) {
  const last = words.at(-1);
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

// A state of a delivery, with how many there are where that is told.
export function state(word, count) {
  return el("span", `state ${count === 0 ? "nothing" : word}`, count === undefined ? word : `${number(count)} ${word}`);
}

export function states(deliveries) {
  const names = ["waiting", "held", "delivered", "dead"].filter((name) => deliveries[name] > 0);
  if (names.length === 0) return el("span", "quiet", "unrouted");
  return el("span", "states", ...names.map((name) => state(name, deliveries[name])));
}
