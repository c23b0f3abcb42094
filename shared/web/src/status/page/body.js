// A body as it was received: set out for reading, as its text, or as bytes in hex. It is read once, and a long one only
// when somebody asks for it.

import { act } from "./notices.js";
import { hex, lines, textOf } from "./printing.js";
import { bytesAt } from "./server.js";
import { button, bytes, el, fill, many } from "./text.js";

const BY_ITSELF = 64 * 1024;
// How much is shown at first, and with each "show more".
const LINES = 500;
const LETTERS = 50_000;
const HEX_BYTES = 8 * 1024;
const LONGEST_TOKEN = 20_000;
const MODES = [
  ["pretty", "Pretty"],
  ["raw", "Raw"],
  ["hex", "Hex"],
];

function token([kind, text]) {
  const long = text.length > LONGEST_TOKEN;
  const made = fill(el("span", `json ${kind}`), long ? text.slice(0, LONGEST_TOKEN) : text);
  if (long) made.append(el("span", "cut", `… (${many(text.length - LONGEST_TOKEN, "character")} more)`));
  return made;
}

function pretty(set, to) {
  const made = set.slice(0, to).map(({ depth, parts }) => {
    const line = el("span", "row", "  ".repeat(depth), ...parts.map(token));
    line.append("\n");
    return line;
  });
  const isCut = set.slice(0, to).some(({ parts }) => parts.some(([, text]) => text.length > LONGEST_TOKEN));
  return { made, more: set.length > to, isCut };
}

// The parts of a form: names and values, decoded.
function formLines(text) {
  const pairs = Array.from(new URLSearchParams(text));
  return pairs.map(([name, value]) => ({
    depth: 0,
    parts: [
      ["key", name],
      ["mark", " = "],
      ["text", value],
    ],
  }));
}

export function body(id) {
  const path = `/api/events/${encodeURIComponent(id)}/body`;
  const shown = el("pre", "body");
  shown.tabIndex = 0;
  shown.setAttribute("role", "region");
  shown.setAttribute("aria-label", "The body");
  const said = el("p", "quiet");
  const more = button("Show more", () => {
    grown += 1;
    draw();
  });
  const read = button("Show the body", () => act(read, "The body cannot be read", fetchIt));
  const save = el("a", "", "Download the bytes");
  save.href = path;
  save.download = `${id}.bin`;
  const modes = MODES.map(([mode, text]) => {
    const made = button(text, () => {
      now = mode;
      grown = 1;
      draw();
    });
    made.dataset.mode = mode;
    return made;
  });
  const choice = el("div", "modes", ...modes);
  choice.setAttribute("role", "group");
  choice.setAttribute("aria-label", "How the body is shown");
  const element = el("div", "", el("div", "buttons", choice, read, save), said, shown, more);
  let [data, text, kind, now, grown, asked] = [null, null, "", "pretty", 1, false];
  more.hidden = true;
  choice.hidden = true;
  shown.hidden = true;

  async function fetchIt() {
    data = await bytesAt(path);
    text = textOf(data);
    now = text === null ? "hex" : "pretty";
    draw();
  }

  // What a mode shows of the body, and what is to be said of it.
  function parts() {
    if (now === "hex" || text === null) {
      const end = HEX_BYTES * grown;
      return {
        made: hex(data, 0, end).map((row) => `${row}\n`),
        more: data.length > end,
        note: text === null ? "These bytes are no text." : "",
      };
    }
    if (now === "pretty") {
      const isForm = kind.toLowerCase().startsWith("application/x-www-form-urlencoded");
      // A byte order mark is no part of the JSON that was read.
      const set = isForm ? formLines(text) : lines(text.replace(/^\ufeff/, ""), LINES * grown);
      const note = isForm ? "The fields of a form, decoded." : "Set out for reading; every value stands as it came.";
      if (set !== null) {
        const laidOut = pretty(set, LINES * grown);
        const cut = laidOut.isCut ? " Long values are cut: raw, or the bytes, have all of them." : "";
        return { ...laidOut, note: note + cut };
      }
    }
    const end = LETTERS * grown;
    const note = now === "pretty" ? "This is no JSON, or nested too deep to be set out: shown as it came." : "";
    return { made: [fill(el("span"), text.slice(0, end), "\n\t")], more: text.length > end, note };
  }

  function draw() {
    const drawn = parts();
    for (const made of modes) {
      made.setAttribute("aria-pressed", String(made.dataset.mode === now));
      made.disabled = text === null && made.dataset.mode !== "hex";
    }
    shown.replaceChildren(...drawn.made);
    more.hidden = !drawn.more;
    said.textContent = [drawn.note, drawn.more ? "Only the beginning is shown." : ""].filter(Boolean).join(" ");
    [choice.hidden, shown.hidden, read.hidden] = [false, false, true];
  }

  return {
    element,
    show(event) {
      kind = event.content_type ?? "";
      if (asked) return;
      asked = true;
      if (event.body_length === 0) {
        said.textContent = "It is empty.";
        [read.hidden, save.hidden] = [true, true];
      } else if (event.body_length <= BY_ITSELF) {
        act(read, "The body cannot be read", fetchIt);
      } else {
        said.textContent = `${bytes(event.body_length)}: read when you ask for it.`;
      }
    },
  };
}
