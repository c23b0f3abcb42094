import { assert, script, tell } from "./story.mjs";

const { conditionOf, rate, troubles } = await script("condition");
const { setServerTime } = await script("time");

const NOW = Date.parse("2026-07-01T12:00:00.000Z");
const at = (seconds) => new Date(NOW + seconds * 1000).toISOString();
const health = (more) => ({ delivered: 0, failed: 0, last_delivered: null, last_failure: null, oldest_due: null, ...more });
const overview = (health, more) => ({
  held: [],
  totals: { dead: 0, expired: 0 },
  destinations: { crm: { delivered: 0, waiting: 0, held: 0, dead: 0, expired: 0 } },
  recent: { destinations: health ? { crm: health } : {}, sources: {} },
  ...more,
});

setServerTime(at(0));
const condition = (health, more) => conditionOf("crm", overview(health, more));

await tell({
  words: () => {
    const failure = (seconds) => ({ at: at(seconds), why: "answer 503" });
    assert.equal(condition(health({ failed: 1, last_failure: failure(-5) })), "failing");
    const after = (failed, ago, delivered) =>
      condition(health({ delivered: 99, failed, last_failure: failure(-ago), last_delivered: at(-delivered) }));
    assert.equal(after(1, 5, 6), "failing", "the last attempt failed");
    assert.equal(after(1, 1, 4), "fine", "it delivered just before");
    assert.equal(after(1, 1800, 1801), "failing", "and nothing was delivered since");
    assert.equal(after(1, 5, 4), "fine", "retries are for such");
    assert.equal(after(40, 50, 4), "fine", "nothing waits any more");
    const waits = { destinations: { crm: { waiting: 1 } } };
    const many = (ago) =>
      condition(
        health({ delivered: 99, failed: 40, last_failure: failure(-ago), last_delivered: at(-4) }),
        waits,
      );
    assert.equal(many(50), "failing", "many do");
    assert.equal(many(70), "fine", "it is over");
    assert.equal(condition(health({ delivered: 1, oldest_due: at(-61) })), "late");
    assert.equal(condition(health({ delivered: 1, oldest_due: at(30) })), "fine", "it waits for its pause to end");
    assert.equal(condition(health({ delivered: 1 })), "fine");
    assert.equal(condition(health({})), "quiet");
    assert.equal(condition(undefined), "quiet");
    assert.equal(condition(health({ failed: 1, last_failure: failure(-5) }), { held: ["crm"] }), "held");
    assert.equal(conditionOf("crm", { held: [], recent: undefined, destinations: {} }), "quiet", "the last hour is not known");
    const signs = (of) => troubles(of).map(({ sign }) => sign);
    assert.deepEqual(signs(overview(health({}))), []);
    const totals = (dead, expired) => ({ totals: { dead, expired } });
    assert.deepEqual(signs(overview(health({ failed: 1 }), totals(2, 1))), ["failing", "dead"]);
    assert.deepEqual(signs(overview(health({}), totals(2, 2))), [], "what expired cannot be redriven");
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
