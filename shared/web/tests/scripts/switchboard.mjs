import { assert, script, tell } from "./story.mjs";

const { planOf } = await script("switchboard");

const overview = {
  your_endpoint: { set: true },
  held: ["chat"],
  sources: { shop: { stored: 7 } },
  destinations: { chat: { dead: 0, expired: 0, held: 3 }, crm: { dead: 3, expired: 1, held: 0 } },
  recent: { destinations: { crm: { delivered: 0, failed: 4 } } },
};
const to = (...names) => names.map((name) => ({ to: name, action: "deliver" }));
const sources = [{ name: "shop" }, { name: "forms" }];

await tell({
  plan: () => {
    const items = [
      { source: "shop", kind: "orders/create", deliver: [...to("chat", "crm"), { to: "crm", action: "other" }] },
    ];
    const plan = planOf(overview, { items, sources });
    assert.deepEqual(
      plan.kinds.map(({ source, kind, deliver }) => [source, kind, deliver]),
      [
        ["shop", "orders/create", ["chat", "crm"]],
        ["*", "*", ["your-endpoint"]],
      ],
    );
    assert.deepEqual(plan.sources, [
      { name: "shop", stored: 7 },
      { name: "*", stored: undefined },
      { name: "forms", stored: undefined },
    ]);
    assert.deepEqual(
      plan.destinations.map(({ name, condition, dead, held }) => [name, condition, dead, held]),
      [
        ["chat", "held", 0, 3],
        ["crm", "failing", 2, 0],
        ["your-endpoint", "quiet", 0, 0],
      ],
    );
    const many = Array.from({ length: 100 }, (_, n) => ({ source: "shop", kind: `k${n}`, deliver: to("crm") }));
    const drawn = planOf({ ...overview, your_endpoint: { set: false } }, { items: many, sources });
    assert.equal(drawn.kinds.length + drawn.left, 100, "those that are not drawn are counted");
    assert.deepEqual(planOf({ ...overview, your_endpoint: { set: false } }, { items: [], sources: [] }).sources, []);
  },
});
