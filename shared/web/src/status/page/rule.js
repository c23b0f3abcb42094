// The retry rule in words.

import { el, list, many, span } from "./text.js";

function inWords(rule) {
  const limit = span(rule.time_limit_ms);
  const first = rule.first_pause_ms === null ? "at once" : `after a first pause of about ${span(rule.first_pause_ms)}`;
  const jitter = Math.round(rule.jitter * 100);
  const moved = jitter === 0 ? "exactly" : `each up to ${jitter} % longer or shorter at random`;
  const n = rule.attempts;
  const pauses =
    n === 1
      ? "There is no second attempt."
      : `The next follow after pauses of ${list(rule.pauses_ms.map(span))}, ${moved}.`;
  return (
    `A delivery has ${many(n, "attempt")}, the first ${first}. It succeeds on an answer in the 200s within ${limit}. ` +
    `${pauses} When all have failed it is a dead letter and waits among the failed deliveries until it is ` +
    `redriven, with ${many(n, "attempt")} more under the same idempotency key.`
  );
}

// One paragraph for all destinations that share a rule.
export function retry(rules) {
  const groups = new Map();
  for (const [name, rule] of Object.entries(rules)) {
    const words = inWords(rule);
    groups.set(words, [...(groups.get(words) ?? []), name]);
  }
  return Array.from(groups, ([words, names]) => {
    const to = groups.size === 1 ? "Every destination" : list(names);
    return el("p", "", el("strong", "", to), `: ${words}`);
  });
}
