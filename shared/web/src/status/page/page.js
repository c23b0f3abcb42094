// The page: which view is open, and reading again what it shows. What was read last stays until something newer is there.

import { toRedrive } from "./condition.js";
import * as destinations from "./destinations.js";
import * as endpoint from "./endpoint.js";
import * as event from "./event.js";
import * as events from "./events.js";
import * as failed from "./failed.js";
import { lists } from "./lists.js";
import * as overview from "./overview.js";
import { hush } from "./notices.js";
import { placeOf } from "./places.js";
import { follow, tidy } from "./progress.js";
import { keepReading } from "./reading.js";
import * as refused from "./refused.js";
import { say } from "./renew.js";
import * as replay from "./replay.js";
import { get, Problem, why } from "./server.js";
import * as sources from "./sources.js";
import { el, number, plain } from "./text.js";
import { age, local, moveAges, now, offset, setServerTime, zone } from "./time.js";

const VIEWS = new Map(
  Object.entries({ "": overview, events, failed, refused, replay, destinations, endpoint, sources }),
);
const ROUTES_HOLD = 10_000;
// An answer that takes longer is worth a word.
const SLOW = 4_000;

// What all views share. `again` reads now, `changed` also what is read only when the totals say so.
const app = { overview: null, routes: null, again: () => {}, changed };
let view = null;
let readAt = null;
const listed = lists();
let routesAt = -Infinity;

// A one-time link shows the page at its own address; from here on it is at its usual one.
if (location.pathname !== "/") history.replaceState(null, "", `/${location.hash}`);

const byId = (id) => document.getElementById(id);

function changed() {
  listed.forget();
  app.again();
}

function open() {
  const place = placeOf(location.hash);
  const found = place.view === "events" && place.rest.length > 0 ? event : VIEWS.get(place.view);
  view = found?.open(place, app) ?? { element: el("p", "", "There is no such view.") };
  listed.forget();
  byId("head").textContent = found?.title ?? "Not found";
  byId("view").replaceChildren(view.element);
  byId("view").dataset.of = location.hash;
  byId("view").ariaBusy = "true";
  showFault(null);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === place.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (app.overview !== null) view.show?.(app);
  showTitle();
}

function showTitle() {
  const dead = app.overview === null ? 0 : toRedrive(app.overview.totals);
  document.title = `${dead > 0 ? `(${number(dead)} failed) ` : ""}${byId("head").textContent} · Switchboard`;
}

function showCounts({ totals, held, at, version }) {
  const counts = { dead: toRedrive(totals), held: held.length };
  for (const place of document.querySelectorAll("[data-count]")) {
    const count = counts[place.dataset.count];
    const words = place.dataset.count === "held" ? `${number(count)} held` : number(count);
    say(place, count > 0 ? words : "");
  }
  say(byId("version"), version ? `Switchboard ${version}. ` : "");
  say(byId("zone"), `Times are in your zone, ${zone()} (${offset(new Date(at))}); hover over one for UTC.`);
}

// What a view reads. An answer that what was asked for is wrong, such as a cursor that somebody mistyped, is no sign that the
// server is out of reach.
async function readView(of) {
  try {
    return { data: await of.read() };
  } catch (error) {
    const ours = error instanceof Problem && [400, 404, 409, 422].includes(error.status);
    if (ours) return { fault: error };
    throw error;
  }
}

function showFault(error) {
  const text = error === null ? "" : `This cannot be shown: ${plain(error.message, 300)}.`;
  byId("fault").hidden = error === null;
  say(byId("fault"), text);
}

// Reads what is needed, then shows it: never a half.
async function read() {
  const of = view;
  const slow = setTimeout(() => stand("stale", "Waiting", "It does not answer"), SLOW);
  try {
    const before = app.overview;
    const seen = await get("/api/overview");
    clearTimeout(slow);
    if (seen === null) throw new Problem(404, {});
    const start = performance.now();
    const [routes, { data, fault }] = await Promise.all([
      start - routesAt > ROUTES_HOLD ? get("/api/routes") : app.routes,
      listed.isDue(of, seen, start) ? readView(of) : {},
    ]);
    if (seen !== before) setServerTime(seen.at);
    if (routes !== app.routes) routesAt = start;
    Object.assign(app, { overview: seen, routes });
    readAt = new Date(now()).toISOString();
    showCounts(seen);
    follow(seen);
    if (of !== view) {
      app.again();
    } else {
      if (data !== undefined || fault !== undefined) listed.read(of, seen, start);
      if (data !== undefined) showFault(null);
      if (fault !== undefined) showFault(fault);
      of.show?.(app, data);
      if (!of.read || data !== undefined || fault !== undefined) byId("view").ariaBusy = "false";
      if (of.scrollTo !== undefined) scrollTo(0, of.scrollTo);
      delete of.scrollTo;
    }
    showTitle();
  } catch (error) {
    console.warn(error);
    const out = error instanceof Problem && error.status === 401;
    if (out) stand("stale", "Signed out", `You are signed out: ${why(error)}`);
    else stand("stale", "Not reachable", `Not reachable: ${why(error)}`);
    return false;
  } finally {
    clearTimeout(slow);
  }
  stand("live", "Live");
  return true;
}

// Changes the state's text only when the state changes: it is read aloud.
function stand(state, text, trouble = "") {
  document.body.dataset.state = state;
  say(byId("state"), text);
  byId("trouble").hidden = state !== "stale";
  byId("trouble").dataset.why = trouble;
}

function tick() {
  moveAges();
  view?.tick?.(app);
  const stale = document.body.dataset.state === "stale";
  const of = readAt === null ? "Nothing was read yet." : `What is shown is of ${local(readAt)}, ${age(readAt)}.`;
  if (stale) say(byId("trouble-text"), `${byId("trouble").dataset.why}. ${of}`);
  say(byId("age"), stale && readAt !== null ? age(readAt) : "");
}

// The place on the page that somebody left a view at, for the way back.
const left = new Map();
let entry = 0;

function enter(state) {
  left.set(entry, scrollY);
  const back = state?.entry !== undefined;
  document.querySelector("dialog")?.close();
  hush();
  tidy();
  entry = back ? state.entry : Date.now();
  if (!back) history.replaceState({ entry }, "");
  open();
  app.again();
  byId("head").focus({ preventScroll: true });
  scrollTo(0, 0);
  if (back) view.scrollTo = left.get(entry);
}

window.addEventListener("popstate", ({ state }) => enter(state));
byId("read-now").addEventListener("click", () => app.again());
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("main").focus();
});

entry = history.state?.entry ?? Date.now();
history.replaceState({ entry }, "");
open();
app.again = keepReading(read, tick);
