// One delivery of an event: where it stands, and its attempts on a time line with the pauses between them.

import { act } from "./notices.js";
import { one } from "./redrive.js";
import { button, code, el, foreign, many, name, number, span, state } from "./text.js";
import { ago, moment } from "./time.js";

function attempt(record) {
  const answer =
    record.status === undefined || record.status === null ? record.outcome : `${record.outcome}, ${record.status}`;
  return el(
    "li",
    `attempt ${record.outcome}`,
    el(
      "p",
      "",
      el("strong", "", `${number(record.number)}. ${answer}`),
      " after ",
      el("span", "took", span(record.duration_ms)),
      " ",
      moment(record.at),
    ),
    record.detail ? el("p", "piece", foreign(record.detail, 200)) : null,
  );
}

// From the end of one attempt to the beginning of the next.
function pause(from, to) {
  const ms = Date.parse(to.at) - Date.parse(from.at) - from.duration_ms;
  return el("li", "pause", `pause of ${span(Math.max(ms, 0))}`);
}

function line(delivery) {
  const { log, due, attempts } = delivery;
  const made = log.flatMap((record, n) => (n === 0 ? [attempt(record)] : [pause(log[n - 1], record), attempt(record)]));
  if (attempts > log.length) {
    const count = attempts - log.length;
    made.unshift(el("li", "pause", `${many(count, "earlier attempt is", "earlier attempts are")} not kept`));
  }
  if (delivery.state === "waiting") {
    const next = due ? ["next attempt due ", ago(due)] : ["next attempt due now"];
    made.push(el("li", "pause", ...next));
  }
  if (made.length === 0) made.push(el("li", "pause", "no attempt yet"));
  return el("ol", "line-of-time", ...made);
}

// A delivery with the button that puts it back where it is a dead letter.
export function delivery(row, event, app) {
  const head = el("h3", "", name(row.destination), " ", state(row.state));
  const redrive = button("Redrive", () => act(redrive, "Redrive", () => one(app, { ...row, event: null })), "strong");
  redrive.setAttribute("aria-label", `Redrive the delivery to ${row.destination}`);
  const facts = [
    "action ",
    name(row.action),
    row.run > 0 ? ` · replay ${row.run}` : "",
    ` · ${many(row.attempts, "attempt")} · key `,
    code(row.delivery),
  ];
  const made = el(
    "article",
    `delivery ${row.state}`,
    head,
    el("p", "quiet", ...facts),
    row.reason ? el("p", "", "Dead: ", foreign(row.reason, 300)) : null,
    row.state === "dead" ? el("p", "buttons", redrive) : null,
    row.state === "held" ? el("p", "", "Its destination is held; it goes on when that is released.") : null,
    line(row),
  );
  made.setAttribute("aria-label", `Delivery to ${row.destination}`);
  return made;
}
