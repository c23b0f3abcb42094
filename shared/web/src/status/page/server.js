// How the page asks the server. What was read once is asked for again by its ETag; what changes something carries a
// header that no page of another site can send.

const TIME_LIMIT = 10_000;
// Moving thousands of deliveries takes a moment.
const CHANGE_LIMIT = 60_000;

// An answer that is not what was asked for; `detail` says why in words.
export class Problem extends Error {
  constructor(status, told) {
    super(told.detail ?? told.title ?? `the server answered ${status}`);
    this.status = status;
    this.told = told;
  }
}

// Whether the page is kept although nobody is signed in any more.
let stays = () => false;

export function stayWhile(check) {
  stays = check;
}

async function problem(answer) {
  if (answer.status === 401) {
    if (stays()) return new Problem(401, { detail: "sign in on another tab, then go on here" });
    // The sign-in page stands at the same address, and leads back to this view.
    location.reload();
    return new Problem(401, { detail: "signed out" });
  }
  const told = await answer.json().catch(() => ({}));
  return new Problem(answer.status, told);
}

// Why something failed, for a person.
export function why(error) {
  if (error instanceof Problem) return error.message;
  if (error?.name === "TimeoutError") return "Switchboard did not answer in time";
  return "Switchboard is not reachable";
}

// The last answers with an ETag, by path.
const kept = new Map();
const KEPT = 4;

// What stands at a path: null where there is nothing. `get(path).same` is the same object while the server says so.
export async function get(path) {
  const before = kept.get(path);
  const headers = before ? { "If-None-Match": before.etag } : {};
  const answer = await fetch(path, { cache: "no-store", headers, signal: AbortSignal.timeout(TIME_LIMIT) });
  if (answer.status === 304 && before) return before.value;
  if (answer.status === 404) return null;
  if (!answer.ok) throw await problem(answer);
  const value = await answer.json();
  const etag = answer.headers.get("ETag");
  if (etag) {
    kept.delete(path);
    kept.set(path, { etag, value });
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  return value;
}

// The bytes at a path.
export async function bytesAt(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(CHANGE_LIMIT) });
  if (!answer.ok) throw await problem(answer);
  return new Uint8Array(await answer.arrayBuffer());
}

// Changes something, and gives what the server says of it.
export async function change(method, path, body) {
  const headers = { "Switchboard-Request": "page" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    signal: AbortSignal.timeout(CHANGE_LIMIT),
  });
  if (!answer.ok) throw await problem(answer);
  const text = await answer.text();
  return text === "" ? null : JSON.parse(text);
}

// A path with those of the parameters that say something.
export function query(path, parameters) {
  const said = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(said).toString();
  return text === "" ? path : `${path}?${text}`;
}
