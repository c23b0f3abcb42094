// The view of your endpoint: setting, changing and clearing its address, its secret, and a test delivery.

import { ask } from "./asking.js";
import { copyable } from "./copying.js";
import { act, tell } from "./notices.js";
import { renew } from "./renew.js";
import { change } from "./server.js";
import { test } from "./test.js";
import { button, el, foreign, many, number } from "./text.js";

export const title = "Your endpoint";
const YOURS = "your-endpoint";

// A secret stands here once: with the next view, or the button, it is gone.
function showSecret(place, secret, note) {
  const gone = button("I have stored it", () => place.replaceChildren());
  const panel = el(
    "div",
    "secret",
    el("p", "", el("strong", "", "The secret is shown this once. "), note),
    el("p", "", copyable(secret, "the secret")),
    el("p", "buttons", gone),
  );
  panel.tabIndex = -1;
  place.replaceChildren(panel);
  panel.focus();
}

function setForm(secretPlace, app) {
  const url = el("input");
  Object.assign(url, {
    id: "endpoint-url",
    type: "url",
    name: "url",
    required: true,
    placeholder: "https://…",
    autocomplete: "off",
    spellcheck: false,
  });
  const label = el("label", "", "Address");
  label.htmlFor = url.id;
  const go = el("button", "strong", "Set");
  go.type = "submit";
  const form = el("form", "buttons", label, url, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    act(go, "Your endpoint was not set", async () => {
      const set = await change("PUT", "/admin/endpoint", { url: url.value.trim() });
      tell("Your endpoint is set: ", foreign(set.url));
      if (set.secret) showSecret(secretPlace, set.secret, "Your endpoint checks with it that a copy is Switchboard's.");
      form.reset();
      app.changed();
    });
  });
  return { form, name: (text) => (go.textContent = text) };
}

async function clear(app) {
  const open = app.overview.destinations[YOURS] ?? { waiting: 0, held: 0 };
  const values = await ask({
    title: "Clear your endpoint?",
    text: [
      `Its address and its secret go. ${many(open.waiting + open.held, "open copy becomes a dead letter", "open copies become dead letters")}, and events from then on are not copied.`,
    ],
    confirm: "Clear",
  });
  if (values === null) return;
  const { dead, left } = await change("DELETE", "/admin/endpoint");
  const rest = left > 0 ? ` ${number(left)} more die when they fall due.` : "";
  tell(
    `Your endpoint is cleared. ${many(dead, "open copy is a dead letter", "open copies are dead letters")} now.${rest}`,
  );
  app.changed();
}

async function rotate(secretPlace, app) {
  const values = await ask({
    title: "Rotate the secret?",
    text: [
      "A new secret is made. For 24 hours each copy is signed with both, so that nothing is missed while you change to the new one.",
    ],
    confirm: "Rotate",
  });
  if (values === null) return;
  const { secret } = await change("POST", "/admin/endpoint/rotate");
  showSecret(secretPlace, secret, "Each one before goes on signing beside it for its 24 hours.");
  app.changed();
}

export function open(_, app) {
  const [standing, secret] = [el("p", "", "…"), el("div")];
  standing.id = "endpoint";
  const set = setForm(secret, app);
  const tried = test(YOURS);
  const rotates = button("Rotate the secret…", () => act(rotates, "Rotate", () => rotate(secret, app)));
  const clears = button("Clear…", () => act(clears, "Clear", () => clear(app)));
  const acts = el("div", "buttons", tried.button, rotates, clears);
  acts.hidden = true;
  return {
    element: el(
      "div",
      "stack",
      el("section", "", el("h2", "", "Where copies go"), standing, set.form, acts, tried.said, secret),
      el(
        "section",
        "",
        el("h2", "", "How to check a copy"),
        el(
          "p",
          "",
          "Each copy is signed by Standard Webhooks: the headers ",
          el("code", "", "webhook-id"),
          ", ",
          el("code", "", "webhook-timestamp"),
          " and ",
          el("code", "", "webhook-signature"),
          " over the raw body. Any of that scheme's libraries checks it with the secret.",
        ),
      ),
    ),
    show({ overview }) {
      const endpoint = overview.your_endpoint;
      const isHeld = overview.held.includes(YOURS);
      acts.hidden = !endpoint.set;
      set.name(endpoint.set ? "Change" : "Set");
      renew(standing, [endpoint, isHeld], () => [
        ...(endpoint.set
          ? ["Set: a signed copy of every event goes to ", foreign(endpoint.address), "."]
          : ["Not set. While its address is set, a signed copy of every event goes there."]),
        isHeld ? " It is held by an operator." : "",
      ]);
    },
  };
}
