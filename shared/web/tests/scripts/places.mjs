import { assert, script, tell } from "./story.mjs";

const { placeOf, to, toEvent } = await script("places");

await tell({
  "there and back": () => {
    assert.deepEqual(placeOf(""), { view: "", rest: [], parameters: {} });
    assert.deepEqual(placeOf("#/"), { view: "", rest: [], parameters: {} });
    assert.equal(to("events"), "#/events");
    assert.deepEqual(placeOf(toEvent("evt_a/b?c")), { view: "events", rest: ["evt_a/b?c"], parameters: {} });
    const search = {
      source: "shop",
      kind: '<img src=x>&"?#/',
      sender_id: "9007199254740993",
      from: "2026-07-01T12:30:00.000Z",
    };
    assert.deepEqual(placeOf(to("events", { ...search, state: "", until: null })), {
      view: "events",
      rest: [],
      parameters: search,
    });
    // Typed by hand, and wrong.
    assert.deepEqual(placeOf("#/events/%"), { view: "events", rest: ["%"], parameters: {} });
    assert.deepEqual(placeOf("#main").view, "main");
    assert.equal(placeOf("#/__proto__").view, "__proto__");
  },
});
