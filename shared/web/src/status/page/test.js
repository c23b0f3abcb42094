// A test delivery: one attempt made at once, marked as a test, in no ledger and in no total; and what it came to.

import { act } from "./notices.js";
import { change } from "./server.js";
import { button, el, foreign, name, span } from "./text.js";
import { moment } from "./time.js";

function told({ outcome, status, detail, duration_ms, at }) {
  const answer = status === null || status === undefined ? outcome : `${outcome}, ${status}`;
  const sign = outcome === "delivered" ? "✓" : "✕";
  return el(
    "p",
    `tested ${outcome}`,
    el("strong", "", `${sign} Test: ${answer}`),
    ` after ${span(duration_ms)} `,
    moment(at),
    detail ? el("span", "piece", " ", foreign(detail, 200)) : null,
  );
}

// The button, and the place for what came of it.
export function test(destination) {
  const said = el("div");
  said.setAttribute("role", "status");
  const made = button("Test delivery", () =>
    act(made, `Test delivery to ${destination}`, async () => {
      said.replaceChildren(el("p", "quiet", "Waiting for ", name(destination), "…"));
      try {
        said.replaceChildren(told(await change("POST", "/admin/test", { destination })));
      } catch (error) {
        said.replaceChildren();
        throw error;
      }
    }),
  );
  made.setAttribute("aria-label", `Test delivery to ${destination}`);
  return { button: made, said };
}
