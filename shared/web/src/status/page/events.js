// The view of stored events: a search whose every part stands in the address, and a page of what it finds.

import { choice, field, input } from "./asking.js";
import { to, toEvent } from "./places.js";
import { renew } from "./renew.js";
import { get, query } from "./server.js";
import { table } from "./tables.js";
import { bytes, el, foreign, link, many, name, number, short, states } from "./text.js";
import { fieldOf, moment, ofField } from "./time.js";

export const title = "Events";
const PAGE = 50;
const EVENT = /^evt_[a-z2-7]{26}$/;
const STATES = ["waiting", "held", "delivered", "dead"];
const SEARCHED = ["source", "kind", "sender_id", "state", "destination", "from", "until"];

// Of an address's parameters those that narrow a search.
export function searched(parameters) {
  return Object.fromEntries(SEARCHED.map((of) => [of, parameters[of] ?? ""]));
}

// The fields of a search, filled with what is searched for.
export function searchFields(search, app) {
  const sources = app.routes?.sources.map(({ name }) => name) ?? [];
  const destinations = Object.keys(app.overview?.destinations ?? {});
  const time = (value) => input("datetime-local", value ? fieldOf(value) : "");
  return [
    field("Source", "source", choice(sources, search.source, "every source")),
    field("Kind", "kind", input("text", search.kind, { placeholder: "exact", autocomplete: "off", spellcheck: false })),
    field(
      "Sender's id",
      "sender_id",
      input("text", search.sender_id, { placeholder: "exact", autocomplete: "off", spellcheck: false }),
    ),
    field("State", "state", choice(STATES, search.state, "any state")),
    field("Destination", "destination", choice(destinations, search.destination, "any destination")),
    field("From (your zone)", "from", time(search.from)),
    field("Until (your zone)", "until", time(search.until)),
  ];
}

// What a form of these fields searches for. A moment that was not changed keeps its seconds.
export function searchOf(form, before) {
  const values = Object.fromEntries(Array.from(new FormData(form), ([of, value]) => [of, value.trim()]));
  for (const of of ["from", "until"]) {
    values[of] = before[of] && fieldOf(before[of]) === values[of] ? before[of] : ofField(values[of] ?? "");
  }
  return searched(values);
}

function eventsTable(id, caption) {
  return table({
    id,
    caption,
    none: "none found",
    key: (row) => row.event,
    columns: [
      ["Received", (row) => moment(row.at)],
      ["Source", (row) => name(row.source)],
      ["Kind", (row) => foreign(row.kind)],
      ["Sender's id", (row) => foreign(row.sender_id)],
      ["Body", (row) => el("span", "bound", bytes(row.body_length))],
      ["Repeats", (row) => number(row.repeats)],
      ["Deliveries", (row) => states(row.deliveries)],
      [
        "Event",
        (row) => {
          const made = link(toEvent(row.event), short(row.event));
          made.dataset.event = row.event;
          return made;
        },
      ],
    ],
  });
}

// How far a search looked that no index answers.
export function howFar(looked) {
  if (!looked) return [];
  const at = `Looked at ${many(looked.at, "event")}`;
  return looked.back_to ? [`${at}, back to `, moment(looked.back_to), "."] : [`${at}: all there are.`];
}

export function open(place, app) {
  const search = searched(place.parameters);
  const { after } = place.parameters;
  const form = el("form", "search");
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "Events");
  const go = el("button", "strong", "Search");
  go.type = "submit";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = searchOf(form, search);
    location.hash = EVENT.test(wanted.sender_id) ? toEvent(wanted.sender_id) : to("events", wanted);
  });
  const shown = el("p", "shown", "…");
  shown.id = "events-shown";
  const pages = el("p", "pages");
  const found = eventsTable("events", "Stored events, newest first");
  let made = false;
  return {
    element: el("div", "stack", el("section", "", form), el("section", "", shown, found.element, pages)),
    hangsOn: ({ totals }) => totals,
    read: () => get(query("/api/events", { ...search, after, limit: PAGE })),
    show(now, data) {
      // The fields' choices are known by now.
      if (!made && now.routes !== null) {
        form.append(
          ...searchFields(search, now),
          el("p", "buttons", go, link(to("events"), "Clear"), link(to("replay", search), "Replay these…")),
        );
        form.elements.sender_id.placeholder = "exact; or the event's own id";
        made = true;
      }
      if (!data) return;
      const { items, next, looked } = data;
      renew(shown, [items.length, next, looked, after], () => [
        `${many(items.length, "event")} shown${next ? "; there are more further back" : ""}. `,
        after ? "This page stays as it is while new events come in. " : "",
        ...howFar(looked),
      ]);
      found.show(items);
      renew(pages, [after, next], () =>
        [
          after ? link(to("events", search), "Newest") : null,
          next
            ? link(to("events", { ...search, after: next }), items.length === 0 ? "Look further back" : "Older")
            : null,
        ].filter(Boolean),
      );
    },
  };
}
