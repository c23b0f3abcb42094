// One event whole: what it is, its headers, its body as it came, and its deliveries.

import { delivery } from "./attempts.js";
import { body } from "./body.js";
import { copyable } from "./copying.js";
import { to } from "./places.js";
import { place as put, renew } from "./renew.js";
import { get } from "./server.js";
import { table } from "./tables.js";
import { bytes, el, foreign, link, name, number, states } from "./text.js";
import { moment } from "./time.js";

export const title = "Event";

function facts(event) {
  const rows = [
    ["Source", link(to("events", { source: event.source }), name(event.source))],
    ["Kind", foreign(event.kind, 300)],
    ["Sender's id", foreign(event.sender_id, 1100)],
    ["Received", moment(event.at)],
    ["Kept until", moment(event.kept_until)],
    [
      "Body",
      el(
        "span",
        "",
        bytes(event.body_length),
        event.content_type ? ", " : "",
        event.content_type ? foreign(event.content_type) : "",
      ),
    ],
    [
      "Repeats",
      event.repeats === 0
        ? "none"
        : `${number(event.repeats)}, ${number(event.repeats_with_other_body)} of them with another body`,
    ],
    ["Deliveries", states(event.deliveries)],
  ];
  return el("dl", "facts", ...rows.flatMap(([what, value]) => [el("dt", "", what), el("dd", "", value)]));
}

function headersTable() {
  return table({
    id: "headers",
    caption: "Headers as they came; what can carry a signature or a key is not shown",
    key: ([header]) => header,
    columns: [
      ["Name", ([header]) => foreign(header)],
      ["Value", ([, value]) => (value === null ? el("span", "quiet", "not shown") : foreign(value, 1000))],
    ],
  });
}

export function open(place, app) {
  const id = place.rest[0];
  const shown = copyable(id, "the event's id");
  shown.id = "event-id";
  const what = el("div");
  const headers = headersTable();
  const content = body(id);
  const deliveries = el("div", "deliveries");
  deliveries.id = "deliveries";
  let kept = new Map();
  let eager = true;

  function showDeliveries(event) {
    const now = new Map();
    for (const row of event.delivery_list) {
      const text = JSON.stringify(row);
      const old = kept.get(row.delivery);
      now.set(row.delivery, old?.text === text ? old : { text, element: delivery(row, event, app) });
    }
    kept = now;
    const made = Array.from(now.values(), ({ element }) => element);
    const all = Object.values(event.deliveries).reduce((sum, count) => sum + count, 0);
    if (all > made.length)
      made.unshift(el("p", "quiet", `${number(all - made.length)} earlier ones are not shown.`));
    put(
      deliveries,
      made.length > 0 ? made : [el("p", "quiet", "No route names it: it is stored, and delivered nowhere.")],
    );
  }

  const again = el("p", "buttons");
  const missing = el("p", "line", "There is no such event: it never was, or its time is past.");
  missing.hidden = true;
  const parts = el(
    "div",
    "stack",
    el("section", "", el("h2", "", "What it is"), el("p", "", shown), what, again),
    el("section", "", el("h2", "", "Deliveries"), deliveries),
    el("section", "", el("h2", "", "Body"), content.element),
    el("section", "", el("h2", "", "Headers"), headers.element),
  );
  return {
    element: el("div", "", missing, parts),
    // While it waits for an attempt, what happens to it is read every time: somebody may have just redriven it.
    eager: () => eager,
    read: async () => ({ event: await get(`/api/events/${encodeURIComponent(id)}`) }),
    show(_, data) {
      if (!data) return;
      const { event } = data;
      missing.hidden = event !== null;
      parts.hidden = event === null;
      eager = event !== null && event.delivery_list.some(({ state }) => state === "waiting");
      if (event === null) return;
      renew(what, { ...event, delivery_list: null }, () => facts(event));
      renew(again, event.event, () =>
        link(to("replay", { source: event.source, sender_id: event.sender_id }), "Replay this event…"),
      );
      headers.show(event.headers ?? []);
      showDeliveries(event);
      content.show(event);
    },
  };
}
