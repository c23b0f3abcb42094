import { assert, script, tell } from "./story.mjs";

const { conditionOf, rate, troubles } = await script("condition");
const { setServerTime } = await script("time");

const NOW = Date.parse("2026-07-01T12:00:00.000Z");
const at = (seconds) => new Date(NOW + seconds * 1000).toISOString();
const health = (more) => ({ delivered: 0, failed: 0, last_failure: null, oldest_due: null, ...more });
const overview = (health, more) => ({
  held: [],
  totals: { dead: 0 },
  destinations: { crm: { delivered: 0, waiting: 0, held: 0, dead: 0 } },
  recent: { destinations: health ? { crm: health } : {}, sources: {} },
  ...more,
});

setServerTime(at(0));
const condition = (health, more) => conditionOf("crm", overview(health, more));

await tell({
  words: () => {
    const failure = (seconds) => ({ at: at(seconds), why: "answer 503" });
    assert.equal(condition(health({ failed: 1, last_failure: failure(-5) })), "failing");
    assert.equal(condition(health({ delivered: 99, failed: 1, last_failure: failure(-5) })), "failing");
    assert.equal(
      condition(health({ failed: 6, last_failure: failure(-1800) })),
      "failing",
      "nothing was delivered since",
    );
    assert.equal(condition(health({ delivered: 99, failed: 1, last_failure: failure(-1800) })), "fine", "it is over");
    assert.equal(condition(health({ delivered: 1, oldest_due: at(-61) })), "late");
    assert.equal(condition(health({ delivered: 1, oldest_due: at(30) })), "fine", "it waits for its pause to end");
    assert.equal(condition(health({ delivered: 1 })), "fine");
    assert.equal(condition(health({})), "quiet");
    assert.equal(condition(undefined), "quiet");
    assert.equal(condition(health({ failed: 1, last_failure: failure(-5) }), { held: ["crm"] }), "held");
    assert.equal(conditionOf("crm", { held: [], recent: undefined }), "quiet", "the last hour is not known");
    const signs = (of) => troubles(of).map(({ sign }) => sign);
    assert.deepEqual(signs(overview(health({}))), []);
    assert.deepEqual(signs(overview(health({ failed: 1 }), { totals: { dead: 2 } })), ["failing", "dead"]);
    assert.deepEqual(signs(overview(health({}), { held: ["crm"] })), ["held"]);
    const sources = {
      shop: { last_refusal: at(-60) },
      code: { last_refusal: at(-7200) },
      forms: { last_refusal: null },
    };
    assert.deepEqual(signs(overview(null, { recent: { destinations: {}, sources } })), ["refused"]);
  },
  rates: () => {
    assert.equal(rate({ delivered: 0, failed: 0 }), "–");
    assert.equal(rate({ delivered: 5, failed: 0 }), "100 %");
    assert.equal(rate({ delivered: 1_000_000, failed: 1 }), "99.9 %");
    assert.equal(rate({ delivered: 1, failed: 2 }), "33.3 %");
    assert.equal(rate({ delivered: 0, failed: 2 }), "0 %");
  },
});
