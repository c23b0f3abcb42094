// The view of what failed: dead letters by destination and reason, each of them, and what puts them back.

import { toRedrive } from "./condition.js";
import { act } from "./notices.js";
import { to, toEvent } from "./places.js";
import * as redrive from "./redrive.js";
import { renew, say } from "./renew.js";
import { get, query } from "./server.js";
import { table } from "./tables.js";
import { button, el, foreign, link, many, name, number, plain, short } from "./text.js";
import { ticks } from "./ticks.js";
import { ago, moment } from "./time.js";

export const title = "Failed";
const PAGE = 50;

function groupsTable(app) {
  return table({
    id: "groups",
    caption: "Dead letters by destination and reason",
    key: (row) => `${row.destination} ${row.reason}`,
    columns: [
      ["Destination", (row) => link(to("failed", { destination: row.destination }), name(row.destination))],
      ["Reason", (row) => foreign(row.reason, 300)],
      ["Count", (row) => number(row.count)],
      ["Oldest", (row) => ago(row.oldest)],
      ["Newest", (row) => ago(row.newest)],
      [
        "Redrive",
        (row) => {
          const made = button(`Redrive ${number(row.count)}…`, () =>
            act(made, "Redrive", () => redrive.group(app, row)),
          );
          made.setAttribute("aria-label", `Redrive ${number(row.count)} of ${row.destination}, ${plain(row.reason)}`);
          return made;
        },
      ],
    ],
  });
}

function lettersTable(app, ticked) {
  const tick = (row) => {
    const box = el("input");
    box.type = "checkbox";
    box.checked = ticked.chosen.has(row.delivery);
    box.dataset.delivery = row.delivery;
    box.setAttribute("aria-label", `Choose ${row.delivery} to ${row.destination}`);
    box.addEventListener("change", () => ticked.set(row, box.checked));
    return box;
  };
  return table({
    id: "dead-letters",
    caption: "Dead letters, newest first",
    key: (row) => row.delivery,
    columns: [
      ["Choose", tick],
      ["Failed at", (row) => moment(row.at)],
      ["Source", (row) => name(row.source)],
      ["Kind", (row) => foreign(row.kind)],
      ["Destination", (row) => name(row.destination)],
      ["Action", (row) => name(row.action)],
      ["Attempts", (row) => number(row.attempts)],
      ["Reason", (row) => foreign(row.reason, 300)],
      ["Event", (row) => link(toEvent(row.event), short(row.event))],
      ["Kept until", (row) => ago(row.kept_until)],
      [
        "Redrive",
        (row) => {
          const made = button("Redrive", () => act(made, "Redrive", () => redrive.one(app, row)), "strong");
          made.setAttribute("aria-label", `Redrive the delivery ${row.delivery} to ${row.destination}`);
          return made;
        },
      ],
    ],
  });
}

export function open(place, app) {
  const { destination, after } = place.parameters;
  const line = el("p", "shown", "…");
  const every = el("div", "buttons");
  const shown = el("p", "shown", "…");
  const pages = el("p", "pages");
  let stood = false;
  const rest = button(
    "",
    () =>
      act(rest, "Redrive", async () => {
        if (await redrive.chosen(app, Array.from(ticked.chosen.values()))) {
          ticked.chosen.clear();
          for (const box of document.querySelectorAll("#dead-letters [data-delivery]")) box.checked = false;
        }
      }),
    "strong",
  );
  const ticked = ticks(() => {
    rest.textContent = ticked.chosen.size === 0 ? "Redrive chosen" : `Redrive chosen (${number(ticked.chosen.size)})…`;
    rest.disabled = ticked.chosen.size === 0;
    ticked.all.indeterminate = ticked.chosen.size > 0 && !ticked.all.checked;
    // Nothing is chosen any more: the list may move on.
    if (stood && ticked.chosen.size === 0) app.changed();
    stood = ticked.chosen.size > 0;
  });
  const groups = groupsTable(app);
  const letters = lettersTable(app, ticked);
  const head = destination ? el("h2", "", "Dead letters of ", name(destination)) : el("h2", "", "Each of them");
  const element = el(
    "div",
    "stack",
    el("section", "", el("h2", "", "What failed, and why"), line, groups.element, every),
    el(
      "section",
      "",
      head,
      shown,
      el("div", "buttons", el("label", "inline", ticked.all, "Choose all that are shown"), rest),
      letters.element,
      pages,
    ),
  );

  return {
    element,
    hangsOn: ({ destinations }) => Object.values(destinations).map(({ dead, expired }) => [dead, expired]),
    read: async () => {
      const [found, list] = await Promise.all([
        get("/api/dead-letters/groups"),
        get(query("/api/dead-letters", { destination, after, limit: PAGE })),
      ]);
      return { groups: found, list };
    },
    show({ overview }, data) {
      const { totals, destinations } = overview;
      const left = toRedrive(totals);
      const { expired } = totals;
      renew(every, [left, Object.entries(destinations).map(([of, its]) => [of, toRedrive(its)])], ([dead, of]) => [
        ...of
          .filter(([, count]) => count > 0)
          .map(([name, count]) =>
            button(`Redrive all of ${name} (${number(count)})…`, () => redrive.ofDestination(app, name)),
          ),
        dead > 0 ? button(`Redrive all (${number(dead)})…`, () => redrive.all(app), "strong") : null,
      ]);
      if (data === undefined) return;
      const looked = data.groups.looked;
      const counted = data.groups.items.reduce((sum, group) => sum + group.count, 0);
      const partly =
        counted < left
          ? ` The groups below count the newest ${number(counted)}${looked?.back_to ? ", back to " : "."}`
          : "";
      renew(line, [left, expired, partly, looked], () => [
        left === 0
          ? "No dead letter can be redriven."
          : `${many(left, "dead letter")}.${partly}`,
        partly && looked?.back_to ? moment(looked.back_to) : "",
        expired > 0 ? ` ${many(expired, "more was", "more were")} kept until the end and never redriven.` : "",
      ]);
      groups.show(data.groups.items.filter((group) => !destination || group.destination === destination));
      // What is chosen stands still: new dead letters would push it off the list.
      if (ticked.chosen.size > 0) return say(shown, "The list stands still while something is chosen.");
      letters.show(data.list.items);
      ticked.shown(data.list.items);
      say(
        shown,
        data.list.items.length === 0
          ? "None."
          : `${number(data.list.items.length)} shown${after ? ", from further back" : ", newest first"}.`,
      );
      renew(pages, [after, data.list.next, destination], () =>
        [
          after ? link(to("failed", { destination }), "Newest") : null,
          data.list.next ? link(to("failed", { destination, after: data.list.next }), "Older") : null,
          destination ? link(to("failed"), "Of all destinations") : null,
        ].filter(Boolean),
      );
    },
  };
}
