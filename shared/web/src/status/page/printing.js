// JSON set out for reading, from its text alone: no value is ever parsed, so each stands digit for digit as it came.

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y;
const OPENS = { "{": "}", "[": "]" };
const DEEPEST = 200;

// The tokens of a text, one after the other; ends early where it is no JSON.
function* tokens(text) {
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    if (at === text.length) return;
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) throw new SyntaxError(`no JSON at ${at}`);
    at = TOKEN.lastIndex;
    yield found[0];
  }
}

function kindOf(token) {
  if (token.startsWith('"')) return "text";
  if (token === "true" || token === "false" || token === "null") return "word";
  return "number";
}

// What may follow, by where the reader stands: the grammar in five states.
const VALUE = "value",
  FIRST_VALUE = "first value",
  KEY = "key",
  FIRST_KEY = "first key",
  COLON = "colon",
  END = "end";

// The first lines of a JSON text set out: each `{ depth, parts: [[kind, text]…] }`; one more than `most` when there are
// more, and what follows is not looked at. Null for anything else than JSON.
export function lines(text, most = Infinity) {
  try {
    return setOut(text, most);
  } catch (error) {
    // A text of many megabytes can be beyond what the reader of tokens holds.
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

function setOut(text, most) {
  const made = [];
  const open = [];
  let line = null;
  let expected = VALUE;
  const put = (kind, token) => {
    if (line === null) {
      line = { depth: open.length, parts: [] };
      made.push(line);
    }
    line.parts.push([kind, token]);
  };
  const close = (token) => {
    if (open.pop() !== token) throw new SyntaxError("closed by another");
    // An empty object or list stays on one line.
    if (expected !== FIRST_KEY && expected !== FIRST_VALUE) line = null;
    put("mark", token);
    expected = END;
  };
  for (const token of tokens(text)) {
    if (made.length > most) return made;
    if (token === "}" && (expected === FIRST_KEY || expected === END)) close(token);
    else if (token === "]" && (expected === FIRST_VALUE || expected === END)) close(token);
    else if (expected === KEY || expected === FIRST_KEY) {
      if (kindOf(token) !== "text") throw new SyntaxError("no key");
      if (expected === FIRST_KEY) line = null;
      put("key", token);
      expected = COLON;
    } else if (expected === COLON) {
      if (token !== ":") throw new SyntaxError("no colon");
      put("mark", ": ");
      expected = VALUE;
    } else if (expected === END) {
      if (token !== "," || open.length === 0) throw new SyntaxError("no end");
      put("mark", ",");
      line = null;
      expected = open.at(-1) === "}" ? KEY : VALUE;
    } else if (token in OPENS) {
      if (expected === FIRST_VALUE) line = null;
      put("mark", token);
      open.push(OPENS[token]);
      if (open.length > DEEPEST) throw new SyntaxError("too deep");
      expected = token === "{" ? FIRST_KEY : FIRST_VALUE;
    } else {
      if ("}],:".includes(token)) throw new SyntaxError("no value");
      if (expected === FIRST_VALUE) line = null;
      put(kindOf(token), token);
      expected = END;
    }
  }
  if (expected !== END || open.length > 0) throw new SyntaxError("cut off");
  return made;
}

// Bytes from `from` on in rows of 16: where, in hex, and as ASCII.
export function hex(bytes, from, to) {
  const rows = [];
  for (let at = from; at < Math.min(to, bytes.length); at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const digits = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const left = digits.slice(0, 8).join(" ");
    const right = digits.slice(8).join(" ");
    const ascii = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."));
    rows.push(`${at.toString(16).padStart(8, "0")}  ${left.padEnd(23)}  ${right.padEnd(23)}  ${ascii.join("")}`);
  }
  return rows;
}

// The text of bytes that are UTF-8; null for others.
export function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\u0000") ? null : text;
  } catch {
    return null;
  }
}
