// Redriving: dead letters back to waiting, with more attempts under the same key. How many is said first; what is more
// than one call moves goes on in steps, as far apart as the starts are spread.

import { ask, PER_SECOND, rate } from "./asking.js";
import { toRedrive } from "./condition.js";
import { toEvent } from "./places.js";
import { run } from "./progress.js";
import { change, get, query } from "./server.js";
import { link, many, number, plain } from "./text.js";

// Ids in one call: far below the longest body that the server reads.
const IDS = 500;
const PAGE = 200;

function redriven(done, left) {
  return `${many(done, "dead letter")} redriven, ${number(left)} left.`;
}

// What was moved before a call failed is spread as well: the next one waits for that. Gives how many those were.
function cut(error, perSecond) {
  const moved = error.told?.moved ?? 0;
  error.pause = (moved / perSecond) * 1000;
  return moved;
}

// Until none is left that was there at the start: what dies again meanwhile is not moved a second time.
export function inCalls(body, count, perSecond) {
  let done = 0;
  return async () => {
    const told = await change("POST", "/admin/redrive", { ...body, per_second: perSecond }).catch((error) => {
      done += cut(error, perSecond);
      throw error;
    });
    done += told.redriven;
    const more = told.left > 0 && told.redriven > 0 && done < count;
    return {
      said: redriven(done, told.left),
      done,
      of: done + told.left,
      more,
      pause: (told.redriven / perSecond) * 1000,
    };
  };
}

export function named(ids, perSecond) {
  let done = 0;
  let at = 0;
  return async () => {
    const part = ids.slice(at, at + IDS);
    const told = await change("POST", "/admin/redrive", { deliveries: part, per_second: perSecond }).catch((error) => {
      done += cut(error, perSecond);
      throw error;
    });
    at += part.length;
    done += told.redriven;
    const gone = at - done;
    const note = gone > 0 ? ` ${many(gone, "was no dead letter", "were no dead letters")} any more.` : "";
    return {
      said: redriven(done, ids.length - at) + note,
      done: at,
      of: ids.length,
      more: at < ids.length,
      pause: (part.length / perSecond) * 1000,
    };
  };
}

// One, at once: it loses nothing and is done in one click.
export async function one(app, letter) {
  await run({
    title: `Redrive of 1 dead letter to ${letter.destination}`,
    step: named([letter.delivery], PER_SECOND),
    destinations: [letter.destination],
    links: letter.event ? [link(toEvent(letter.event), "See its event")] : [],
    ended: app.changed,
  });
}

async function confirmed(title, count, what) {
  const values = await ask({
    title,
    text: [
      `${what} Each gets a full round of attempts more, under the same idempotency key.`,
      "The starts are spread, so that a destination that is back is not overrun.",
    ],
    confirm: `Redrive ${number(count)}`,
    fields: [rate()],
  });
  return values === null ? null : Number(values.per_second);
}

export async function chosen(app, letters) {
  const title = `Redrive ${many(letters.length, "dead letter")}`;
  const perSecond = await confirmed(title, letters.length, letters.length === 1 ? "This is the chosen one." : `These are the ${number(letters.length)} chosen ones.`);
  if (perSecond === null) return false;
  const destinations = Array.from(new Set(letters.map((letter) => letter.destination)));
  await run({
    title,
    step: named(
      letters.map((letter) => letter.delivery),
      perSecond,
    ),
    destinations,
    ended: app.changed,
  });
  return true;
}

export async function ofDestination(app, destination) {
  const totals = app.overview.destinations[destination];
  const count = totals ? toRedrive(totals) : 0;
  const title = `Redrive all dead letters of ${destination}`;
  const perSecond = await confirmed(title, count, `${many(count, "delivery", "deliveries")} to ${destination}.`);
  if (perSecond === null) return;
  await run({ title, step: inCalls({ destination }, count, perSecond), destinations: [destination], ended: app.changed });
}

export async function all(app) {
  const of = Object.entries(app.overview.destinations).filter(([, totals]) => toRedrive(totals) > 0);
  const count = toRedrive(app.overview.totals);
  const names = of.map(([name, totals]) => `${name} ${number(toRedrive(totals))}`).join(", ");
  const title = "Redrive all dead letters";
  const perSecond = await confirmed(title, count, `${many(count, "delivery", "deliveries")}: ${names}.`);
  if (perSecond === null) return;
  await run({ title, step: inCalls({ all: true }, count, perSecond), destinations: of.map(([name]) => name), ended: app.changed });
}

// Those of one reason: found first, since the server redrives by destination or by name.
export async function group(app, { destination, reason, count }) {
  const title = `Redrive ${destination}: ${plain(reason)}`;
  const perSecond = await confirmed(title, count, `${many(count, "delivery", "deliveries")} to ${destination}.`);
  if (perSecond === null) return;
  const ids = [];
  let after = null;
  let looked = 0;
  const found = await run({
    title: `Finding the dead letters of ${destination}: ${plain(reason)}`,
    passing: true,
    step: async () => {
      const part = await get(query("/api/dead-letters", { destination, limit: PAGE, after }));
      looked += part.items.length;
      ids.push(...part.items.filter((letter) => letter.reason === reason).map((letter) => letter.delivery));
      after = part.next;
      const more = after !== null && ids.length < count;
      return { said: `${number(ids.length)} found among ${number(looked)}.`, done: ids.length, of: count, more };
    },
  });
  if (!found || ids.length === 0) return;
  await run({ title, step: named(ids, perSecond), destinations: [destination], ended: app.changed });
}
