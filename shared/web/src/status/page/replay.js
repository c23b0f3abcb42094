// The view of replay: which stored events are delivered again, counted first without doing anything, then done.

import { choice, field, rate } from "./asking.js";
import { howFar, searched, searchFields, searchOf } from "./events.js";
import { act } from "./notices.js";
import { to } from "./places.js";
import { run } from "./progress.js";
import { change } from "./server.js";
import { button, el, link, many } from "./text.js";

export const title = "Replay";

// Only what says something: the server takes no empty texts.
const wish = (search, destination) =>
  Object.fromEntries(Object.entries({ ...search, to: destination }).filter(([, value]) => value));

// The steps of a replay, or of its count: each call goes on where the one before ended. The first call of a replay only
// begins it, so that whatever fails or is lost later is made again as it was, and replays nothing twice.
export function steps(asked, perSecond, dry) {
  const sum = { events: 0, deliveries: 0, looked: null, until: null, run: null };
  let progress = null;
  const step = async () => {
    const told = await change("POST", "/admin/replay", {
      ...asked,
      per_second: perSecond,
      dry_run: dry,
      ...(progress === null ? {} : { progress }),
    });
    sum.events += told.events;
    sum.deliveries += told.deliveries;
    sum.looked = { at: (sum.looked?.at ?? 0) + (told.looked?.at ?? 0), back_to: told.looked?.back_to ?? null };
    sum.until = told.until;
    sum.run = told.run;
    progress = told.progress;
    const what = dry ? "would be replayed" : "replayed";
    return {
      said: `${many(sum.events, "event")} ${what}: ${many(sum.deliveries, "delivery", "deliveries")}.`,
      done: sum.deliveries,
      more: progress !== null,
    };
  };
  return { sum, step };
}

export function open(place, app) {
  const search = searched(place.parameters);
  const form = el("form", "search");
  form.setAttribute("aria-label", "Which events are replayed");
  const fields = el("div", "fields");
  const only = el(
    "p",
    "quiet",
    "A replay needs a beginning (From), unless it names one event by its sender's id: so that not everything is replayed by mistake.",
  );
  const count = el("button", "strong", "Count first");
  count.type = "submit";
  const answer = el("div");
  answer.setAttribute("role", "status");
  form.append(fields, el("p", "buttons", count, link(to("replay"), "Clear")));
  let made = false;

  // What came after it was counted is not meant.
  function offer(counted, perSecond, { events, deliveries, looked, until }) {
    const asked = { ...counted, until };
    const what = `${many(events, "event")}, ${many(deliveries, "new delivery", "new deliveries")}`;
    const go = button(
      `Replay ${what}`,
      () => act(go, "Replay", () => begin(asked, perSecond, { events, deliveries })),
      "strong",
    );
    const note =
      "Each event gets new deliveries with new keys, by today's routes: a destination that applied the old ones applies these too.";
    const buttons = deliveries > 0 ? [el("p", "", note), el("p", "buttons", go)] : [];
    answer.replaceChildren(el("p", "", el("strong", "", `${what} would be made. `), ...howFar(looked)), ...buttons);
  }

  async function begin(asked, perSecond, { deliveries }) {
    answer.replaceChildren();
    const { to: destination, ...search } = asked;
    const destinations = destination ? [destination] : Object.keys(app.overview.destinations);
    const { sum, step } = steps(asked, perSecond, false);
    const counted = async () => ({ ...(await step()), of: deliveries });
    await run({
      title: `Replay of ${many(deliveries, "delivery", "deliveries")}`,
      step: counted,
      destinations,
      links: [link(to("events", search), "See these events")],
      ended: () => {
        if (sum.run !== null)
          answer.replaceChildren(el("p", "", `This is replay ${sum.run}: its deliveries carry that number.`));
        app.changed();
      },
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(count, "Count", async () => {
      const values = new FormData(form);
      const asked = wish(searchOf(form, search), values.get("to"));
      if (!asked.from && !asked.sender_id) {
        answer.replaceChildren(el("p", "line", "Set From, or the sender's id."));
        form.elements.from.focus();
        return;
      }
      const perSecond = Number(values.get("per_second"));
      answer.replaceChildren(el("p", "", "Counting…"));
      const { sum, step } = steps(asked, perSecond, true);
      for (let told = { more: true }; told.more;) {
        told = await step();
        answer.replaceChildren(el("p", "", `Counting… ${told.said}`));
        if (!answer.isConnected) return;
      }
      offer(asked, perSecond, sum);
    }).then(() => {
      if (answer.textContent.startsWith("Counting…")) answer.replaceChildren();
    });
  });
  // What was counted is no longer what is asked for.
  form.addEventListener("input", () => answer.replaceChildren());

  return {
    element: el(
      "div",
      "stack",
      el(
        "section",
        "",
        el(
          "p",
          "",
          "Stored events are delivered again on purpose, whatever became of their deliveries. To send failed deliveries again under ",
          "their old keys, ",
          link(to("failed"), "redrive"),
          " them instead.",
        ),
        only,
        form,
        answer,
      ),
    ),
    show(now) {
      if (made || now.routes === null) return;
      made = true;
      fields.append(
        ...searchFields(search, now),
        field(
          "Only to",
          "to",
          choice(Object.keys(now.overview.destinations), place.parameters.to, "all that today's routes name"),
        ),
        rate(),
      );
    },
  };
}
