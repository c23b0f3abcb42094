// The view of what was turned away: refusals with the whole why and a line to look at a captured request, and what was
// declined.

import { copyable } from "./copying.js";
import { to } from "./places.js";
import { refusals } from "./refusals.js";
import { renew, say } from "./renew.js";
import { get, query } from "./server.js";
import { table } from "./tables.js";
import { el, foreign, link, name, number } from "./text.js";
import { moment } from "./time.js";

export const title = "Refused";
const PAGE = 50;

// What each scheme signs with, and what it names the event by: the headers to take from the captured request.
const HEADERS = {
  shopify: ["X-Shopify-Hmac-Sha256", "X-Shopify-Topic", "X-Shopify-Event-Id", "X-Shopify-Webhook-Id"],
  stripe: ["Stripe-Signature"],
  github: ["X-Hub-Signature-256", "X-GitHub-Delivery", "X-GitHub-Event", "X-GitHub-Hook-ID"],
  "standard-webhooks": ["webhook-id", "webhook-timestamp", "webhook-signature"],
};

// The line that says of a captured request what is wrong with it, as of the moment it came.
export function verifyLine(source, scheme, at) {
  const headers = (HEADERS[scheme] ?? ["NAME"]).map((header) => ` --header '${header}: …'`).join("");
  return `switchboard verify --source ${source} --at ${Math.floor(Date.parse(at) / 1000)}${headers} --body FILE`;
}

function check(row, app) {
  const scheme = app.routes?.sources.find(({ name }) => name === row.source)?.scheme;
  const made = el("details", "", el("summary", "", "Check a captured request"));
  // Made when it is opened: the routes, which name the scheme, are there by then.
  made.append(
    el("p", "", "With the headers and the raw body of the request, captured on its way or at its sender:"),
    el("p", "", copyable(verifyLine(row.source, scheme, row.at), "the line to check a captured request")),
    el(
      "p",
      "",
      "Put what was captured in the place of each … and FILE; add --config FILE where the configuration is one of your own. ",
      "It says the same as here, and more where the request tells more.",
    ),
  );
  return made;
}

function declinedTable() {
  return table({
    id: "declined",
    caption: "Requests answered 400, 404, 413 or 503, newest first",
    key: (row) => `${row.at} ${row.path}`,
    columns: [
      ["Time", (row) => moment(row.at)],
      ["Source", (row) => name(row.source)],
      ["Posted to", (row) => foreign(row.source === null ? row.path : `/in/${row.source}`)],
      ["Status", (row) => String(row.status)],
      ["Why", (row) => foreign(row.cause, 300)],
    ],
  });
}

function countsTable() {
  return table({
    id: "declined-counts",
    caption: "All declined, by source and cause",
    key: (row) => `${row.source} ${row.status} ${row.cause}`,
    columns: [
      ["Source", (row) => name(row.source)],
      ["Status", (row) => String(row.status)],
      ["Why", (row) => foreign(row.cause, 300)],
      ["Count", (row) => number(row.count)],
    ],
  });
}

function counted(list, total, isFirst) {
  const count = list.items.length;
  if (count === 0) return isFirst ? "None." : "None further back.";
  if (isFirst && count >= total) return `All ${number(count)} of them.`;
  const newest = isFirst ? "the newest " : "";
  return `Showing ${newest}${number(count)}; ${number(total)} in all. Of the oldest only the number is kept.`;
}

// Links between the pages of a list; where each stands is in the address, so that the other list stays as it is.
function pages(place, of, list, parameters) {
  renew(place, [parameters, list.next], () =>
    [
      parameters[of] ? link(to("refused", { ...parameters, [of]: "" }), "Newest") : null,
      list.next ? link(to("refused", { ...parameters, [of]: list.next }), "Older") : null,
    ].filter(Boolean),
  );
}

export function open(place, app) {
  const { after, declined_after } = place.parameters;
  const parameters = { after, declined_after };
  const [shown, shownDeclined] = [el("p", "shown", "…"), el("p", "shown", "…")];
  const [more, moreDeclined] = [el("p", "pages"), el("p", "pages")];
  const list = refusals("Requests whose signature did not hold, newest first", (row) => check(row, app));
  const [declined, counts] = [declinedTable(), countsTable()];
  const element = el(
    "div",
    "stack",
    el(
      "section",
      "",
      el("h2", "", "Signature did not hold"),
      el(
        "p",
        "",
        "Answered 401. Nothing of such a request is kept but what stands here, so it cannot be delivered from here: ",
        el("strong", "", "only its sender can send it again"),
        ", once the secret or the way to here is mended.",
      ),
      shown,
      list.element,
      more,
    ),
    el("section", "", el("h2", "", "Declined"), shownDeclined, declined.element, moreDeclined, counts.element),
  );
  return {
    element,
    hangsOn: ({ totals }) => [totals.refused, totals.declined],
    read: async () => {
      const [refused, turned] = await Promise.all([
        get(query("/api/refusals", { limit: PAGE, after })),
        get(query("/api/declined", { limit: PAGE, after: declined_after })),
      ]);
      return { refused, turned };
    },
    show({ overview }, data) {
      counts.show(overview.declined);
      if (data === undefined) return;
      list.show(data.refused.items);
      declined.show(data.turned.items);
      say(shown, counted(data.refused, overview.totals.refused, !after));
      say(shownDeclined, counted(data.turned, overview.totals.declined, !declined_after));
      pages(more, "after", data.refused, parameters);
      pages(moreDeclined, "declined_after", data.turned, parameters);
    },
  };
}
