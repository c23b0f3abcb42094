import { assert, script, tell } from "./story.mjs";

const { lists } = await script("lists");

const overview = (more) => ({ totals: { dead: 1, refused: 2 }, at: "2026-07-01T12:00:00.000Z", ...more });

await tell({
  due: () => {
    const listed = lists();
    const view = { read: () => {}, hangsOn: ({ totals }) => totals.dead };
    assert.ok(listed.isDue(view, overview(), 0), "they were never read");
    listed.read(view, overview(), 0);
    for (let now = 2_000; now <= 30_000; now += 2_000)
      assert.ok(!listed.isDue(view, overview(), now), "nothing happened");
    assert.ok(listed.isDue(view, overview(), 30_001), "now and then");
    assert.ok(!listed.isDue(view, overview({ totals: { dead: 1, refused: 9 } }), 2_000), "what they do not hang on");
    assert.ok(listed.isDue(view, overview({ totals: { dead: 2, refused: 2 } }), 2_000), "another dead letter");
    listed.forget();
    assert.ok(listed.isDue(view, overview(), 2_000), "somebody changed something");
    // One that hangs on all of it, which is the same at another time.
    const whole = { read: () => {} };
    listed.read(whole, overview(), 0);
    assert.ok(!listed.isDue(whole, overview({ at: "2026-07-01T12:00:02.000Z" }), 2_000));
    assert.ok(listed.isDue(whole, overview({ held: ["crm"] }), 2_000));
    assert.ok(
      listed.isDue({ ...whole, eager: () => true }, overview(), 2_000),
      "somebody waits for what becomes of it",
    );
    assert.ok(!listed.isDue({}, overview({ held: [] }), 90_000), "a view without lists");
  },
});
