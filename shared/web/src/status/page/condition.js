// How a destination does, in one word and one line; and what of all that is to be seen needs an operator.

import { to } from "./places.js";
import { link, many, name, number } from "./text.js";
import { ago, now } from "./time.js";

// Where this share of an hour's attempts fails and something waits, it goes on for so long after a failure, whatever was
// delivered since.
const TOO_MANY = 0.2;
const GOES_ON_MS = 60_000;
// A busy destination whose last attempt failed is failing when nothing was delivered for so long: retries are for the rest.
const SILENT_MS = 5_000;
const LATE_MS = 60_000;
const HOUR_MS = 3_600_000;

const past = (iso, ms) => Boolean(iso) && now() - Date.parse(iso) > ms;
const within = (iso, ms) => Boolean(iso) && now() - Date.parse(iso) <= ms;
const later = (one, other) => Boolean(one) && (!other || Date.parse(one) > Date.parse(other));

// The dead letters that can be redriven: what nobody redrove while it was kept is gone.
export const toRedrive = ({ dead, expired }) => Math.max(dead - expired, 0);

// Whether its last attempt failed, or many do.
function fails({ delivered, failed, last_delivered, last_failure }, waiting) {
  if (failed === 0) return false;
  if (delivered === 0) return true;
  if (later(last_failure?.at, last_delivered) && !within(last_delivered, SILENT_MS)) return true;
  return waiting > 0 && failed >= TOO_MANY * (delivered + failed) && within(last_failure?.at, GOES_ON_MS);
}

// held, failing, late, fine or quiet.
export function conditionOf(of, { held, recent, destinations }) {
  const health = recent?.destinations[of];
  if (held.includes(of)) return "held";
  if (health === undefined) return "quiet";
  if (fails(health, destinations[of]?.waiting ?? 0)) return "failing";
  if (past(health.oldest_due, LATE_MS)) return "late";
  return health.delivered + health.failed > 0 ? "fine" : "quiet";
}

// "98.2 %": never a round 100 while anything failed.
export function rate(health) {
  const all = health.delivered + health.failed;
  if (all === 0) return "–";
  const tenths = (health.delivered / all) * 1000;
  return `${(health.failed > 0 ? Math.min(Math.floor(tenths), 999) : 1000) / 10} %`;
}

function destination(of, overview) {
  const health = overview.recent?.destinations[of];
  const { waiting, held } = overview.destinations[of] ?? {};
  const condition = conditionOf(of, overview);
  if (condition === "failing") {
    const attempts = `${number(health.failed)} of ${many(health.delivered + health.failed, "attempt")} in the last hour failed`;
    const last = health.last_failure
      ? [`, the last `, ago(health.last_failure.at), ": ", name(health.last_failure.why)]
      : [];
    return {
      sign: "failing",
      line: [name(of), ` is failing: ${attempts}`, ...last, "."],
      to: [
        link(
          to("events", { destination: of, state: "waiting" }),
          `${many(waiting ?? 0, "delivery waits", "deliveries wait")}`,
        ),
        link(to("destinations"), "hold or test it"),
      ],
    };
  }
  if (condition === "held") {
    return {
      sign: "held",
      line: [name(of), ` is held: ${many(held ?? 0, "delivery waits", "deliveries wait")} for its release.`],
      to: [link(to("destinations"), "release it")],
    };
  }
  if (condition === "late") {
    return {
      sign: "late",
      line: [name(of), " is late: its oldest delivery was due ", ago(health.oldest_due), "."],
      to: [link(to("events", { destination: of, state: "waiting" }), "what waits")],
    };
  }
  return null;
}

// What needs an operator, the worst first.
export function troubles(overview) {
  const found = Object.keys(overview.destinations)
    .map((of) => destination(of, overview))
    .filter(Boolean);
  const dead = Object.entries(overview.destinations).filter(([, totals]) => toRedrive(totals) > 0);
  const count = toRedrive(overview.totals);
  if (count > 0) {
    const of = dead.map(([of, totals]) => `${of} ${number(toRedrive(totals))}`).join(", ");
    found.push({
      sign: "dead",
      line: [`${many(count, "dead letter waits", "dead letters wait")} to be redriven: ${of}.`],
      to: [link(to("failed"), "redrive")],
    });
  }
  for (const [of, { last_refusal: at }] of Object.entries(overview.recent?.sources ?? {})) {
    if (within(at, HOUR_MS)) {
      found.push({
        sign: "refused",
        line: ["A request to ", name(of), " was refused ", ago(at), "."],
        to: [link(to("refused"), "say why")],
      });
    }
  }
  const order = ["failing", "late", "dead", "held", "refused"];
  return found.sort((a, b) => order.indexOf(a.sign) - order.indexOf(b.sign));
}
