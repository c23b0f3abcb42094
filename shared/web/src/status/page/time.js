// Moments and ages. A moment stands in the viewer's zone with its distance to UTC; UTC itself stands on hover.

import { el, none, span } from "./text.js";

// The server's present, carried on by a clock that no time zone and no clock change moves.
let server = null;

export function setServerTime(iso) {
  server = { at: Date.parse(iso), heard: performance.now() };
}

// The server's present in milliseconds, as far as it is known.
export function now() {
  return server === null ? Date.now() : server.at + (performance.now() - server.heard);
}

const two = (value) => String(value).padStart(2, "0");

// "+01:00", as it was at that moment.
export function offset(date) {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

export function zone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const day = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
const hour = (date) => `${two(date.getHours())}:${two(date.getMinutes())}`;

// "2026-11-30 14:03:05 +01:00"
export function local(iso) {
  const date = new Date(iso);
  return `${day(date)} ${hour(date)}:${two(date.getSeconds())} ${offset(date)}`;
}

// What a field for date and time holds: "2026-11-30T14:03".
export function fieldOf(iso) {
  const date = new Date(iso);
  return `${day(date)}T${hour(date)}`;
}

// ISO in UTC of what such a field holds; empty for an empty one.
export function ofField(text) {
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}

export function age(iso) {
  if (server === null) return "";
  const ms = now() - Date.parse(iso);
  const seconds = Math.round(Math.abs(ms) / 1000) * 1000;
  if (seconds === 0) return "now";
  const rough = seconds < 60_000 ? span(seconds) : whole(seconds);
  return ms > 0 ? `${rough} ago` : `in ${rough}`;
}

function whole(ms) {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
  ];
  const [unit, size] = units.find(([, size]) => ms >= size);
  return `${Math.floor(ms / size)} ${unit}`;
}

// How long ago it is, alone; the moment itself on hover.
export function ago(iso) {
  if (!iso) return none();
  const made = el("time", "age", age(iso));
  made.dateTime = iso;
  made.dataset.of = iso;
  made.title = `${local(iso)} = ${iso} (UTC)`;
  return made;
}

// A moment and how long ago it is.
export function moment(iso) {
  if (!iso) return none();
  const time = el("time", "", local(iso));
  time.dateTime = iso;
  time.title = `${iso} (UTC)`;
  const past = el("span", "age", age(iso));
  past.dataset.of = iso;
  return el("span", "moment", time, " ", past);
}

// Moves on every age that is shown.
export function moveAges() {
  for (const shown of document.querySelectorAll(".age[data-of]")) {
    const text = age(shown.dataset.of);
    if (shown.textContent !== text) shown.textContent = text;
  }
}
