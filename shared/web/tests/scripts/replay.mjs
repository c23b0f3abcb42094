import { assert, script, tell } from "./story.mjs";

const { steps } = await script("replay");
const { released } = await script("destinations");

const asked = [];
// What is not an answer fails the call; a lost one came to the server.
function answers(...these) {
  asked.length = 0;
  globalThis.fetch = async (_, { body }) => {
    asked.push(JSON.parse(body));
    const answer = these.shift();
    if (answer === "lost") throw new TypeError("the network went away");
    if (answer === "cut") return new Response(JSON.stringify({ detail: "not reachable", moved: 32 }), { status: 503 });
    return new Response(JSON.stringify(answer));
  };
}

const told = (events, progress) => ({
  events,
  deliveries: 2 * events,
  looked: { at: events, back_to: null },
  until: "2026-01-31T09:00:00.001Z",
  run: 7,
  progress,
});

// Goes on wherever it is cut, as somebody does who presses the button.
async function whole(step) {
  const all = [];
  for (let calls = 0; calls < 20; calls += 1) {
    try {
      all.push(await step());
      if (!all.at(-1).more) return all;
    } catch {
      all.push("cut");
    }
  }
  throw new Error("it never ends");
}

await tell({
  "cut anywhere": async () => {
    // Before it began, with its answer lost, in the middle, and at the end.
    answers("lost", told(0, "a"), "cut", "lost", told(200, "b"), "lost", told(5, null));
    const { sum, step } = steps({ from: "F" }, 50, false);
    const all = await whole(step);
    assert.deepEqual(
      asked.map(({ progress }) => progress ?? "begins"),
      ["begins", "begins", "a", "a", "a", "b", "b"],
      "what was not answered is asked for again as it was",
    );
    assert.deepEqual([sum.events, sum.deliveries, sum.run], [205, 410, 7]);
    assert.equal(all.at(-1).said, "205 events replayed: 410 deliveries.");
  },
  counted: async () => {
    answers(told(200, "a"), told(5, null));
    const { sum, step } = steps({ from: "F" }, 50, true);
    await whole(step);
    assert.ok(asked.every(({ dry_run }) => dry_run));
    assert.equal(sum.until, "2026-01-31T09:00:00.001Z", "what came later is not counted");
  },
  release: async () => {
    answers({ released: 10_000, left: 20_000 });
    const all = await whole(released("crm", 50));
    assert.equal(asked.length, 1, "another call would take back the hold of whoever holds it meanwhile");
    assert.equal(all.at(-1).said, "10,000 deliveries released. 20,000 more follow by themselves, at the same pace.");
  },
});
