// How texts, times and numbers become elements. Texts of senders and destinations are only ever text nodes: cut,
// isolated from the text around them, and with every character made visible that a reader could not see.

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

function escaped(char) {
  return `\\u{${char.codePointAt(0).toString(16)}}`;
}

// A text that is not ours.
export function foreign(text, longest = LONGEST) {
  if (text === null || text === undefined || text === "") return el("span", "none", "–");
  const all = Array.from(String(text));
  const made = el("bdi");
  let run = "";
  for (const char of all.slice(0, longest)) {
    if (UNSEEN.test(char)) {
      made.append(run, el("span", "unseen", escaped(char)));
      run = "";
    } else {
      run += char;
    }
  }
  made.append(run);
  if (all.length > longest) {
    made.append(el("span", "cut", "…"));
    const whole = all.slice(0, LONGEST_TITLE).map((char) => (UNSEEN.test(char) ? escaped(char) : char));
    made.title = whole.join("") + (all.length > LONGEST_TITLE ? "…" : "");
  }
  return made;
}

export function code(text) {
  const made = el("code", "", foreign(text, 200));
  return made;
}

const NUMBERS = new Intl.NumberFormat("en");

export function number(value) {
  return typeof value === "number" ? NUMBERS.format(value) : "…";
}

export function bytes(value) {
  return value === 1 ? "1 byte" : `${number(value)} bytes`;
}

// A duration as it is spoken: 90000 -> "1.5 min".
export function span(ms) {
  const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1_000]];
  const [unit, size] = units.find(([, size]) => ms >= size) ?? ["ms", 1];
  return `${NUMBERS.format(Math.round((ms / size) * 10) / 10)} ${unit}`;
}

// The server's present, carried on by a clock that no time zone and no clock change moves.
let server = null;

export function setServerTime(iso) {
  server = { at: Date.parse(iso), heard: performance.now() };
}

export function age(iso) {
  if (server === null) return "";
  const ms = server.at + (performance.now() - server.heard) - Date.parse(iso);
  const seconds = Math.round(Math.abs(ms) / 1000) * 1000;
  if (seconds === 0) return "now";
  const rough = seconds < 60_000 ? span(seconds) : whole(seconds);
  return ms > 0 ? `${rough} ago` : `in ${rough}`;
}

function whole(ms) {
  const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000]];
  const [unit, size] = units.find(([, size]) => ms >= size);
  return `${Math.floor(ms / size)} ${unit}`;
}

// A moment: ISO in UTC, to the second, and how long ago it is.
export function moment(iso) {
  if (!iso) return el("span", "none", "–");
  const time = el("time", "", iso.replace(/\.\d+Z$/, "Z"));
  time.dateTime = iso;
  time.title = iso;
  const ago = el("span", "age", age(iso));
  ago.dataset.of = iso;
  return el("span", "moment", time, " ", ago);
}

// Moves on every age that is shown.
export function moveAges() {
  for (const ago of document.querySelectorAll(".age[data-of]")) {
    const text = age(ago.dataset.of);
    if (ago.textContent !== text) ago.textContent = text;
  }
}
