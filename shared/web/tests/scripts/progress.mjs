import { assert, script, tell } from "./story.mjs";

// As much of a document as panels need.
class Element {
  children = [];
  listeners = {};
  dataset = {};
  text = "";
  classList = { add() {} };
  get textContent() {
    return this.text + this.children.map((child) => child.textContent ?? child).join("");
  }
  set textContent(text) {
    this.replaceChildren();
    this.text = text;
  }
  append(...more) {
    this.children.push(...more.filter((child) => child !== null && child !== undefined));
    for (const child of more) if (child instanceof Element) child.parent = this;
  }
  replaceChildren(...these) {
    this.text = "";
    this.children = [];
    this.append(...these);
  }
  remove() {
    this.parent.children = this.parent.children.filter((child) => child !== this);
  }
  setAttribute() {}
  focus() {}
  addEventListener(of, listener) {
    this.listeners[of] = listener;
  }
  all() {
    return [this, ...this.children.flatMap((child) => (child instanceof Element ? child.all() : []))];
  }
}

const places = new Map();
const place = (id) => places.get(id) ?? places.set(id, new Element()).get(id);
globalThis.document = { getElementById: place, createElement: () => new Element(), querySelectorAll: () => [] };
let asked = 0;
let leave = null;
globalThis.addEventListener = (of, listener) => {
  if (of === "beforeunload") leave = listener;
};
globalThis.location = { reload: () => (asked += 1) };
console.warn = () => {};

const { run, tidy } = await script("progress");
const { change } = await script("server");

const running = place("running");
const buttons = () => running.all().filter((element) => element.listeners.click);
const names = () => buttons().map((button) => button.textContent);
const press = (name) => buttons().find((button) => button.textContent === name).listeners.click();
// Waits until a button is there.
async function shows(name) {
  for (let turns = 0; !names().includes(name); turns += 1) {
    assert.ok(turns < 1000, `${name} among ${names()}`);
    await new Promise((done) => setTimeout(done, 1));
  }
}
function asks() {
  let kept = false;
  leave({ preventDefault: () => (kept = true) });
  return kept;
}
const step = (...these) => {
  let n = 0;
  return async () => {
    const made = these[Math.min(n++, these.length - 1)];
    if (made instanceof Error) throw made;
    return made;
  };
};
const part = (done, more, pause = 0) => ({ said: `${done} done.`, done, of: 3, more, pause });

await tell({
  cut: async () => {
    const ends = [];
    const cut = Object.assign(new Error("away"), { pause: 40 });
    const began = run({ title: "A thing", step: step(part(1, true), cut, part(3, false)), ended: (whole) => ends.push(whole) });
    assert.equal(await began, false, "whoever began it is free again");
    assert.deepEqual(names().slice(-2), ["Go on", "Close"]);
    assert.match(running.textContent, /1 done\. Cut: Switchboard is not reachable\. Go on does the rest\./);
    tidy();
    assert.ok(names().includes("Go on") && asks(), "only the panel knows how it goes on");
    const at = performance.now();
    press("Go on");
    await shows("Close");
    assert.ok(performance.now() - at >= 35, "what was begun keeps its pause");
    assert.deepEqual(ends, [false, true]);
    assert.match(running.textContent, /3 done\./);
    assert.ok(!asks(), "it is whole");
    tidy();
    assert.equal(running.textContent, "", "in another view it would be in the way");
  },
  stopped: async () => {
    const began = run({ title: "A thing", step: step(part(1, true, 60), part(3, false)) });
    await shows("Stop");
    // Until its first step is made.
    while (!running.textContent.includes("1 done.")) await new Promise((done) => setTimeout(done, 1));
    press("Stop");
    assert.equal(await began, false);
    assert.match(running.textContent, /1 done\. Stopped\./);
    const at = performance.now();
    press("Go on");
    await shows("Close");
    while (running.textContent.includes("Stopped")) await new Promise((done) => setTimeout(done, 1));
    assert.ok(performance.now() - at >= 30, "a stop is no way to a higher rate");
  },
  refused: async () => {
    // What is not right as it was asked for cannot be gone on with; nobody is kept from leaving.
    globalThis.fetch = async () => new Response(JSON.stringify({ detail: "no destination is named so" }), { status: 404 });
    await run({ title: "A thing", step: () => change("POST", "/admin/redrive", {}) });
    assert.deepEqual(names().slice(-1), ["Close"]);
    assert.ok(!names().includes("Go on") && !asks());
    // Signed out meanwhile, the page stays for as long as there is something to go on with.
    globalThis.fetch = async () => new Response("{}", { status: 401 });
    await run({ title: "Another", step: () => change("POST", "/admin/redrive", {}) });
    assert.ok(names().includes("Go on"));
    assert.equal(asked, 0, "not left for the sign-in page");
    assert.match(running.textContent, /sign in on another tab/);
    press("Close");
    press("Close");
    await change("POST", "/admin/redrive", {}).catch(() => {});
    assert.equal(asked, 1, "nothing is lost by leaving");
  },
});
