// What each table shows: its cells, one function each, in the order of the heads in the page.

import { bytes, code, el, foreign, moment, number, span } from "./text.js";

// Fills a table's body; the heads become the labels of the narrow layout.
function fill(id, rows, cells) {
  const table = document.getElementById(id);
  const heads = Array.from(table.tHead.rows[0].cells, (head) => head.textContent);
  const made = rows.map((row) => {
    const tds = cells.map((cell, n) => {
      const td = el("td", "", cell(row));
      td.dataset.label = heads[n];
      return td;
    });
    return el("tr", "", ...tds);
  });
  if (made.length === 0) {
    const td = el("td", "none", "none");
    td.colSpan = heads.length;
    made.push(el("tr", "", td));
  }
  table.tBodies[0].replaceChildren(...made);
}

// A configured name: short and plain, so it breaks at its hyphens only.
function name(text) {
  const made = foreign(text);
  made.classList.add("name");
  return made;
}

function state(word, count) {
  return el("span", `state ${word}`, count === undefined ? word : `${number(count)} ${word}`);
}

function states(deliveries) {
  const names = ["waiting", "held", "delivered", "dead"].filter((name) => deliveries[name] > 0);
  if (names.length === 0) return el("span", "unrouted", "unrouted");
  return el("span", "states", ...names.map((name) => state(name, deliveries[name])));
}

export function deadLetters(rows) {
  fill("dead-letters", rows, [
    (row) => moment(row.at),
    (row) => name(row.source),
    (row) => foreign(row.kind),
    (row) => name(row.destination),
    (row) => name(row.action),
    (row) => number(row.attempts),
    (row) => foreign(row.reason, 300),
    (row) => code(row.delivery),
    (row) => moment(row.kept_until),
  ]);
}

export function refusals(rows) {
  fill("refusals", rows, [
    (row) => moment(row.at),
    (row) => name(row.source),
    (row) => foreign(row.reason, 300),
    (row) => foreign(row.near_miss, 300),
    (row) => (row.clock_distance_s === null ? el("span", "none", "–") : `${row.clock_distance_s} s`),
    (row) => number(row.secrets_tried),
    (row) => bytes(row.body_length),
    (row) => foreign(row.content_type),
  ]);
}

export function declined(rows) {
  fill("declined", rows, [
    (row) => moment(row.at),
    (row) => name(row.source),
    (row) => foreign(row.path),
    (row) => String(row.status),
    (row) => foreign(row.cause, 300),
  ]);
}

export function declinedCounts(rows) {
  fill("declined-counts", rows, [
    (row) => name(row.source),
    (row) => String(row.status),
    (row) => foreign(row.cause, 300),
    (row) => number(row.count),
  ]);
}

export function events(rows, open) {
  fill("events", rows, [
    (row) => moment(row.at),
    (row) => name(row.source),
    (row) => foreign(row.kind),
    (row) => foreign(row.sender_id),
    (row) => bytes(row.body_length),
    (row) => number(row.repeats),
    (row) => states(row.deliveries),
    (row) => {
      const button = el("button", "link", row.event);
      button.type = "button";
      button.dataset.event = row.event;
      button.addEventListener("click", () => open(row.event));
      return button;
    },
  ]);
}

function attempt(record) {
  const answer = record.status === undefined ? record.outcome : `${record.outcome}, ${record.status}`;
  const detail = record.detail ? foreign(record.detail, 200) : null;
  return el("li", "", `${record.number}: `, moment(record.at), ` ${answer}, ${span(record.duration_ms)} `, detail);
}

function standing(delivery) {
  const made = el("span", "", state(delivery.state));
  if (delivery.due) made.append(" due ", moment(delivery.due));
  if (delivery.reason) made.append(" ", foreign(delivery.reason, 300));
  return made;
}

export function deliveries(rows) {
  fill("deliveries", rows, [
    (row) => name(row.destination),
    (row) => foreign(row.run > 0 ? `${row.action} (replay ${row.run})` : row.action),
    standing,
    (row) => number(row.attempts),
    (row) => el("ul", "log", ...row.log.map(attempt)),
    (row) => code(row.delivery),
  ]);
}

export function destinations(overview, retry) {
  const names = Array.from(new Set([...Object.keys(retry), ...Object.keys(overview.destinations)])).sort();
  const rows = names
    .map((name) => ({ name, totals: overview.destinations[name] ?? {}, rule: retry[name] }))
    .filter((row) => row.rule?.address || row.totals.delivered !== undefined);
  fill("destinations", rows, [
    (row) => name(row.name),
    (row) => foreign(row.rule ? (row.rule.address ?? "not set") : "not configured"),
    (row) => (overview.held.includes(row.name) ? state("held") : "not held"),
    (row) => number(row.totals.delivered ?? 0),
    (row) => number(row.totals.waiting ?? 0),
    (row) => number(row.totals.held ?? 0),
    (row) => number(row.totals.dead ?? 0),
    (row) => (row.rule ? number(row.rule.max_in_flight) : "–"),
    (row) => (row.rule?.signed ? "yes" : "no"),
  ]);
}

export function routes(rows) {
  fill("routes", rows, [
    (row) => name(row.source),
    (row) => foreign(row.kind),
    (row) =>
      el("ul", "plain", ...row.deliver.map(({ to, action }) => el("li", "", foreign(to), ": ", foreign(action)))),
  ]);
}

export function sources(overview, rows) {
  fill("sources", rows, [
    (row) => name(row.name),
    (row) => name(row.scheme),
    (row) => code(row.address),
    (row) => number(row.secrets),
    (row) => number(overview.sources[row.name]?.stored),
    (row) => number(overview.sources[row.name]?.repeats),
    (row) => number(overview.sources[row.name]?.refused),
    (row) => number(overview.sources[row.name]?.unrouted),
  ]);
}

function list(words) {
  const last = words.at(-1);
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

function inWords(rule) {
  const limit = span(rule.time_limit_ms);
  const first = rule.first_pause_ms === null ? "at once" : `after a first pause of about ${span(rule.first_pause_ms)}`;
  const jitter = Math.round(rule.jitter * 100);
  const moved = jitter === 0 ? "exactly" : `each up to ${jitter} % longer or shorter at random`;
  const n = rule.attempts;
  const pauses =
    n === 1 ? "There is no second attempt." : `The next follow after pauses of ${list(rule.pauses_ms.map(span))}, ${moved}.`;
  const many = (count) => (count === 1 ? "1 attempt" : `${count} attempts`);
  return (
    `A delivery has ${many(n)}, the first ${first}. It succeeds on an answer in the 200s within ${limit}. ` +
    `${pauses} When all have failed it is a dead letter and waits among the failed deliveries until it is ` +
    `redriven, with ${many(n)} more under the same idempotency key.`
  );
}

// The retry rule in words, once for all destinations that share it.
export function retry(rules) {
  const groups = new Map();
  for (const [name, rule] of Object.entries(rules)) {
    const words = inWords(rule);
    groups.set(words, [...(groups.get(words) ?? []), name]);
  }
  const made = Array.from(groups, ([words, names]) => {
    const to = groups.size === 1 ? "Every destination" : list(names);
    return el("p", "", el("strong", "", to), `: ${words}`);
  });
  document.getElementById("retry").replaceChildren(...made);
}
