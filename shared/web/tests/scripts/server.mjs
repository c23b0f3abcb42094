import { assert, script, tell } from "./story.mjs";

const { change, get, Problem, query, why } = await script("server");

// A server that answers what it is told to, and keeps what it was asked.
const asked = [];
function answers(...these) {
  globalThis.fetch = async (path, options) => {
    asked.push({ path, ...options });
    const { status = 200, body = null, etag } = these.shift();
    const text = body === null ? null : JSON.stringify(body);
    return new Response([204, 304].includes(status) ? null : text, { status, headers: etag ? { ETag: etag } : {} });
  };
}

await tell({
  unchanged: async () => {
    answers(
      { body: { n: 1 }, etag: '"a"' },
      { status: 304 },
      { body: { n: 2 }, etag: '"b"' },
      { status: 304 },
      { body: { n: 3 } },
    );
    const first = await get("/api/overview");
    const second = await get("/api/overview");
    assert.equal(first, second, "the same object: nothing changed");
    assert.deepEqual(await get("/api/overview"), { n: 2 });
    assert.deepEqual(await get("/api/overview"), { n: 2 });
    assert.deepEqual(await get("/api/events"), { n: 3 });
    assert.deepEqual(
      asked.map(({ headers }) => headers["If-None-Match"]),
      [undefined, '"a"', '"a"', '"b"', undefined],
    );
    assert.ok(
      asked.every(({ cache, signal }) => cache === "no-store" && signal),
      "never from a cache, and never for ever",
    );
  },
  changes: async () => {
    answers({ body: { redriven: 1, left: 0 } }, { status: 204 });
    assert.deepEqual(await change("POST", "/admin/redrive", { all: true }), { redriven: 1, left: 0 });
    assert.equal(await change("DELETE", "/admin/endpoint"), null);
    assert.ok(asked.every(({ headers }) => headers["Switchboard-Request"] === "page"));
    assert.equal(asked[0].body, '{"all":true}');
    assert.equal(asked[0].headers["Content-Type"], "application/json");
    assert.equal(asked[1].body, undefined);
    assert.equal(
      query("/api/events", { source: "a b", after: null, state: "", limit: 5 }),
      "/api/events?source=a+b&limit=5",
    );
    assert.equal(query("/api/events", {}), "/api/events");
  },
  problems: async () => {
    answers(
      { status: 503, body: { title: "Service Unavailable", detail: "the store is not reachable", moved: 3 } },
      { status: 500, body: null },
      { status: 404 },
    );
    const failed = await change("POST", "/admin/redrive", { all: true }).catch((error) => error);
    assert.ok(failed instanceof Problem);
    assert.equal(why(failed), "the store is not reachable");
    assert.equal(failed.told.moved, 3);
    assert.match(why(await get("/api/overview").catch((error) => error)), /500/);
    assert.equal(await get("/api/events/evt_none"), null, "not there is no failure");
    assert.equal(why(new TypeError("Failed to fetch")), "Switchboard is not reachable");
    let loaded = 0;
    globalThis.location = { reload: () => (loaded += 1) };
    answers({ status: 401, body: {} });
    await assert.rejects(get("/api/overview"), /signed out/);
    assert.equal(loaded, 1, "to the sign-in page");
  },
});
