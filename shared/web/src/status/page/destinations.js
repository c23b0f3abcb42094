// The view of destinations: how each stands, hold and release, a test delivery, and the limits in force.

import { PER_SECOND } from "./asking.js";
import { conditionOf, rate, toRedrive } from "./condition.js";
import { act, tell } from "./notices.js";
import { to } from "./places.js";
import { run } from "./progress.js";
import { place, renew } from "./renew.js";
import { change } from "./server.js";
import { test } from "./test.js";
import { button, el, foreign, link, list, many, name, number, span, state } from "./text.js";
import { ago } from "./time.js";

export const title = "Destinations";

function numbers(of, { totals, health, condition }) {
  const last = health?.last_failure;
  const count = toRedrive(totals);
  const dead = count > 0 ? link(to("failed", { destination: of }), state("dead", count)) : state("dead", 0);
  const pieces = [
    el(
      "span",
      "states",
      state("delivered", totals.delivered),
      link(to("events", { destination: of, state: "waiting" }), state("waiting", totals.waiting)),
      state("held", totals.held),
      dead,
    ),
    el("span", "", `Last hour: ${health ? rate(health) : "–"} success`),
  ];
  if (last) pieces.push(el("span", "", "Last failure ", ago(last.at), ": ", foreign(last.why, 200)));
  if (condition === "late") pieces.push(el("span", "", "Oldest waiting was due ", ago(health.oldest_due)));
  return pieces.map((piece) => el("p", "", piece));
}

function limits(rule) {
  if (!rule) return [el("p", "quiet", "Not configured: what still names it becomes a dead letter.")];
  const pauses = rule.pauses_ms.length === 0 ? "none" : list(rule.pauses_ms.map(span));
  const rows = [
    ["Address", foreign(rule.address ?? "not set")],
    ["Attempts", number(rule.attempts)],
    ["Pauses", `${pauses}, jitter ${Math.round(rule.jitter * 100)} %`],
    ["First pause", rule.first_pause_ms === null ? "none: at once" : span(rule.first_pause_ms)],
    ["Time limit", span(rule.time_limit_ms)],
    ["In flight at most", number(rule.max_in_flight)],
    ["Signed", rule.signed ? "yes, Standard Webhooks" : "no"],
  ];
  return [el("dl", "facts", ...rows.flatMap(([what, value]) => [el("dt", "", what), el("dd", "", value)]))];
}

async function hold(of, app) {
  await change("POST", "/admin/hold", { destination: of });
  tell("Held ", name(of), ": its deliveries wait, none is lost.");
  app.changed();
}

// One call: what it leaves follows by itself, and another call would take back the hold of whoever holds it meanwhile.
export function released(of, perSecond) {
  return async () => {
    const told = await change("POST", "/admin/release", { destination: of, per_second: perSecond });
    const rest = told.left > 0 ? ` ${number(told.left)} more follow by themselves, at the same pace.` : "";
    const said = `${many(told.released, "delivery", "deliveries")} released.${rest}`;
    return { said, done: told.released, of: told.released + told.left, more: false };
  };
}

async function release(of, perSecond, app) {
  await run({ title: `Release of ${of}`, step: released(of, perSecond), destinations: [of], ended: app.changed });
}

function controls(of, isHeld, app) {
  if (!isHeld) {
    const made = button("Hold", () => act(made, "Hold", () => hold(of, app)));
    made.setAttribute("aria-label", `Hold ${of}`);
    return [made];
  }
  const rate = el("input");
  Object.assign(rate, { type: "number", min: "1", max: "1000", required: true, value: String(PER_SECOND) });
  const go = el("button", "strong", "Release");
  go.type = "submit";
  go.setAttribute("aria-label", `Release ${of}`);
  const form = el("form", "inline", go, el("label", "inline", "at ", rate, " starts each second"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(go, "Release", () => release(of, Number(rate.value), app));
  });
  return [form];
}

function card(of, app) {
  const head = el("h2");
  const [what, acts, rule] = [el("div"), el("div", "buttons"), el("div")];
  const tried = test(of);
  const details = el("details", "", el("summary", "", "Limits in force"), rule);
  const element = el("section", "card", head, what, el("div", "buttons", acts, tried.button), tried.said, details);
  element.dataset.destination = of;
  return {
    element,
    show(row) {
      renew(head, row.condition, () => [name(of), " ", el("span", `condition ${row.condition}`, row.condition)]);
      renew(what, row, () => numbers(of, row));
      renew(acts, row.condition === "held", (isHeld) => controls(of, isHeld, app));
      renew(rule, row.rule ?? null, limits);
      tried.button.hidden = !row.rule?.address;
    },
  };
}

export function open(_, app) {
  const cards = new Map();
  const all = el("div", "cards");
  all.id = "destinations";
  return {
    element: el(
      "div",
      "",
      el("p", "", "A held destination gets nothing, and loses nothing: its deliveries wait until it is released."),
      all,
    ),
    show({ overview, routes }) {
      const rules = routes?.retry ?? {};
      const names = Array.from(new Set([...Object.keys(rules), ...Object.keys(overview.destinations)]))
        .sort()
        .filter((of) => rules[of]?.address || overview.destinations[of]);
      for (const of of names) {
        if (!cards.has(of)) cards.set(of, card(of, app));
        cards.get(of).show({
          condition: conditionOf(of, overview),
          totals: overview.destinations[of] ?? { delivered: 0, waiting: 0, held: 0, dead: 0, expired: 0 },
          health: overview.recent?.destinations[of],
          rule: rules[of],
        });
      }
      place(
        all,
        names.length > 0
          ? names.map((of) => cards.get(of).element)
          : [el("p", "quiet", "No destination is configured.")],
      );
    },
  };
}
