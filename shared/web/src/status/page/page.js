// The page: reads what the server holds and shows it. What was read last stays until something newer is there.

import { keepReading } from "./reading.js";
import * as tables from "./tables.js";
import { age, foreign, moment, moveAges, number, setServerTime } from "./text.js";

const TIME_LIMIT = 10_000;
const PAGE = 20;
const LISTS = {
  "dead-letters": { total: "dead", rest: "" },
  refusals: { total: "refused", rest: "Of older ones only the number is kept." },
  declined: { total: "declined", rest: "Of older ones only the number is kept." },
  events: { total: "stored", rest: "Older ones are past their time." },
};
const pages = Object.fromEntries(Object.keys(LISTS).map((name) => [name, 1]));
let open = null;
// Whether somebody just asked for the open event, which stands below the list.
let moveTo = false;
let readAt = null;
let readAgain = () => {};

// A one-time link shows the page at its own address; from here on it is at its usual one.
if (location.pathname !== "/") history.replaceState(null, "", "/");

const byId = (id) => document.getElementById(id);

async function get(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(TIME_LIMIT) });
  if (answer.status === 401) {
    location.reload();
    throw new Error("signed out");
  }
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer.json();
}

// As many pages of a list as somebody asked for.
async function list(name) {
  const items = [];
  let next = null;
  for (let page = 0; page < pages[name]; page += 1) {
    const after = next === null ? "" : `&after=${encodeURIComponent(next)}`;
    const part = await get(`/api/${name}?limit=${PAGE}${after}`);
    items.push(...part.items);
    next = part.next;
    if (next === null) break;
  }
  return { items, more: next !== null };
}

// Shows a part only when it changed, so that a selection or the focus in it is not lost every 2 seconds.
const shown = new Map();
function when(changed, value, show) {
  const text = JSON.stringify(value);
  if (shown.get(changed) === text) return;
  show(value);
  shown.set(changed, text);
}

function showTotals(totals) {
  for (const place of document.querySelectorAll("[data-total]")) {
    place.textContent = number(totals[place.dataset.total]);
  }
  document.title = totals.dead > 0 ? `Switchboard: ${number(totals.dead)} failed` : "Switchboard";
}

function showCount(name, { items, more }, total) {
  const { rest } = LISTS[name];
  const count = items.length;
  let text = `Showing all ${number(count)}.`;
  if (count === 0 && total === 0) text = "None.";
  else if (count < total) text = `Showing the newest ${number(count)} of ${number(total)}. ${more ? "" : rest}`;
  byId(`${name}-shown`).textContent = text.trim();
  byId(`${name}-more`).hidden = !more;
}

function showEvents({ items }) {
  const focused = document.activeElement?.dataset?.event;
  tables.events(items, (event) => {
    open = event;
    moveTo = true;
    readAgain();
  });
  if (focused) document.querySelector(`#events [data-event="${CSS.escape(focused)}"]`)?.focus();
}

function showEvent(event) {
  byId("event").hidden = event === null;
  if (event === null) return;
  byId("event-id").textContent = event.event;
  byId("event-line").replaceChildren(
    foreign(event.source), ", ", foreign(event.kind), ", received ", moment(event.at), ", kept until ",
    moment(event.kept_until), `, ${number(event.repeats)} repeats, `,
    `${number(event.repeats_with_other_body)} of them with another body`,
  );
  tables.deliveries(event.delivery_list);
  if (moveTo) byId("event").scrollIntoView({ block: "nearest" });
  moveTo = false;
}

function showEndpoint({ your_endpoint: endpoint, held }) {
  const stopped = held.includes("your-endpoint") ? " It is held by an operator." : "";
  byId("endpoint").replaceChildren(
    ...(endpoint.set
      ? ["Set: a signed copy of every event goes to ", foreign(endpoint.address), `.${stopped}`]
      : ["Not set. While its address is set, a copy of every event goes there, signed with Standard Webhooks."]),
  );
}

function showAll({ overview, routes, lists, event }) {
  setServerTime(overview.at);
  when("totals", overview.totals, showTotals);
  when("dead-letters", lists["dead-letters"].items, tables.deadLetters);
  when("refusals", lists.refusals.items, tables.refusals);
  when("declined", lists.declined.items, tables.declined);
  when("declined-counts", overview.declined, tables.declinedCounts);
  when("events", { items: lists.events.items }, showEvents);
  for (const [name, { total }] of Object.entries(LISTS)) showCount(name, lists[name], overview.totals[total]);
  when("event", event?.event === open ? event : null, showEvent);
  when("destinations", [overview.destinations, overview.held, routes.retry], () =>
    tables.destinations(overview, routes.retry));
  when("routes", routes.items, tables.routes);
  byId("never-applied").hidden = routes.configuration?.version !== null;
  when("sources", [overview.sources, routes.sources], () => tables.sources(overview, routes.sources));
  when("retry", routes.retry, tables.retry);
  when("endpoint", [overview.your_endpoint, overview.held], () => showEndpoint(overview));
  readAt = overview.at;
}

// Reads everything, then shows everything: never a half. The totals come last, so that no list is longer than they say.
async function read() {
  try {
    const names = Object.keys(LISTS);
    const [routes, event, ...parts] = await Promise.all([
      get("/api/routes"),
      open === null ? null : get(`/api/events/${encodeURIComponent(open)}`),
      ...names.map(list),
    ]);
    const overview = await get("/api/overview");
    showAll({ overview, routes, event, lists: Object.fromEntries(names.map((name, n) => [name, parts[n]])) });
  } catch (error) {
    console.warn(error);
    say("stale", "Not reachable");
    return false;
  }
  say("live", "Live");
  return true;
}

// Changes the state's text only when the state changes: it is read aloud.
function say(state, text) {
  document.body.dataset.state = state;
  if (byId("state").textContent !== text) byId("state").textContent = text;
}

function tick() {
  moveAges();
  const stale = document.body.dataset.state === "stale";
  const of = readAt === null ? "Nothing was read yet." : `These numbers are of ${readAt}, ${age(readAt)}.`;
  byId("age").textContent = stale ? of : "";
}

for (const name of Object.keys(LISTS)) {
  byId(`${name}-more`).addEventListener("click", () => {
    pages[name] += 1;
    readAgain();
  });
}
byId("event-close").addEventListener("click", () => {
  open = null;
  showEvent(null);
  shown.delete("event");
});

readAgain = keepReading(read, tick);
