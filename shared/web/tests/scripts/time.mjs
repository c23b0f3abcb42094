import { assert, script, tell } from "./story.mjs";

const time = await script("time");

// Around midnights, clock changes, and a year's end.
const MOMENTS = [
  "2026-03-29T00:59:59.999Z",
  "2026-03-29T01:00:00.000Z",
  "2026-10-25T00:30:00.000Z",
  "2026-10-25T01:30:00.000Z",
  "2026-12-31T10:30:00.000Z",
  "2026-12-31T23:59:59.000Z",
  "1970-01-01T00:00:00.000Z",
];
const AT_MIDSUMMER = {
  "Pacific/Kiritimati": "2026-07-02 02:30:05 +14:00",
  "Pacific/Pago_Pago": "2026-07-01 01:30:05 -11:00",
  "Europe/Berlin": "2026-07-01 14:30:05 +02:00",
  "Asia/Kathmandu": "2026-07-01 18:15:05 +05:45",
};

await tell({
  zones: () => {
    assert.equal(time.local("2026-07-01T12:30:05.999Z"), AT_MIDSUMMER[process.env.TZ]);
    for (const moment of MOMENTS) {
      const [day, clock, offset] = time.local(moment).split(" ");
      const back = new Date(`${day}T${clock}${offset}`).toISOString();
      assert.equal(back, moment.replace(/\.\d+Z/, ".000Z"), "what is shown is that moment");
    }
    const typed = time.fieldOf("2026-07-01T12:30:00.000Z");
    assert.equal(time.ofField(typed), "2026-07-01T12:30:00.000Z");
    assert.equal(time.ofField(""), "");
    assert.equal(time.ofField("nonsense"), "");
  },
  ages: () => {
    assert.equal(time.age("2026-07-01T12:30:00.000Z"), "", "not known before the server was heard");
    let heard = 1_000;
    globalThis.performance = { now: () => heard };
    globalThis.Date.now = () => 0;
    time.setServerTime("2026-07-01T12:30:00.000Z");
    const ages = () =>
      ["2026-07-01T12:29:58.000Z", "2026-07-01T12:30:00.000Z", "2026-07-01T12:30:30.000Z"].map(time.age);
    assert.deepEqual(ages(), ["2 s ago", "now", "in 30 s"]);
    heard += 90_000;
    assert.deepEqual(ages(), ["1 min ago", "1 min ago", "1 min ago"]);
    heard += 3 * 86_400_000;
    assert.deepEqual(ages(), ["3 d ago", "3 d ago", "3 d ago"]);
  },
});
