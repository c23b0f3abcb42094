import { assert, script, tell } from "./story.mjs";

const { inCalls, named } = await script("redrive");

const asked = [];
function answers(...these) {
  globalThis.fetch = async (_, { body }) => {
    asked.push(JSON.parse(body));
    return new Response(JSON.stringify(these.shift()));
  };
}

async function whole(step) {
  const told = [];
  do told.push(await step());
  while (told.at(-1).more && told.length < 100);
  return told;
}

await tell({
  calls: async () => {
    answers({ redriven: 10_000, left: 2_400 }, { redriven: 2_400, left: 0 });
    const told = await whole(inCalls({ all: true }, 12_400, 50));
    assert.deepEqual(asked, [
      { all: true, per_second: 50 },
      { all: true, per_second: 50 },
    ]);
    assert.deepEqual(
      told.map(({ said, done, of }) => [said, done, of]),
      [
        ["10,000 dead letters redriven, 2,400 left.", 10_000, 12_400],
        ["12,400 dead letters redriven, 0 left.", 12_400, 12_400],
      ],
    );
    assert.equal(told[0].pause, 200_000, "the starts of the next call come after those of this one");
    // What dies again at once is not moved for ever, and neither is asked where nothing moves.
    answers({ redriven: 500, left: 500 }, { redriven: 500, left: 500 });
    assert.equal((await whole(inCalls({ destination: "crm" }, 600, 50))).length, 2);
    // What was moved before it failed counts, and keeps its pace.
    globalThis.fetch = async () => new Response(JSON.stringify({ moved: 100 }), { status: 503 });
    const step = inCalls({ all: true }, 150, 50);
    const failed = await step().catch((error) => error);
    assert.equal(failed.pause, 2_000);
    answers({ redriven: 50, left: 100 });
    assert.equal((await step()).more, false, "what died again is not moved a second time");
    answers({ redriven: 0, left: 3 });
    assert.equal((await whole(inCalls({ destination: "crm" }, 3, 50))).length, 1);
  },
  named: async () => {
    const ids = Array.from({ length: 1_200 }, (_, n) => `dlv_${String(n).padStart(26, "a")}`);
    answers({ redriven: 500, left: 0 }, { redriven: 498, left: 0 }, { redriven: 200, left: 0 });
    const told = await whole(named(ids, 100));
    assert.deepEqual(
      asked.flatMap(({ deliveries }) => deliveries),
      ids,
    );
    assert.ok(
      asked.every((body) => JSON.stringify(body).length < 64 * 1024),
      "no body is longer than the server takes",
    );
    assert.equal(told.at(-1).said, "1,198 dead letters redriven, 0 left. 2 were no dead letters any more.");
    assert.deepEqual(
      told.map(({ pause }) => pause),
      [5_000, 5_000, 2_000],
    );
  },
});
