import { assert, script, tell } from "./story.mjs";

const { bytes, many, plain, span } = await script("text");

await tell({
  hidden: () => {
    assert.equal(plain("order\u202egpj.exe"), "order\\u{202e}gpj.exe");
    assert.equal(plain("zero\u200bwidth\ufeff\u0000\r\n"), "zero\\u{200b}width\\u{feff}\\u{0}\\u{d}\\u{a}");
    assert.equal(plain("tag\u{e0041}"), "tag\\u{e0041}");
    assert.equal(plain("e\u0301 😀 עברית <b>"), "e\u0301 😀 עברית <b>");
    assert.equal(plain("x".repeat(10_000)), `${"x".repeat(120)}…`);
    assert.equal(plain("😀".repeat(130)), `${"😀".repeat(120)}…`, "no letter is cut in two");
    assert.deepEqual([1, 1023, 20 * 1024, 4 * 1024 * 1024].map(bytes), ["1 byte", "1,023 bytes", "20 KiB", "4 MiB"]);
    assert.deepEqual([12, 1500, 90_000, 7_200_000, 172_800_000].map(span), ["12 ms", "1.5 s", "1.5 min", "2 h", "2 d"]);
    assert.equal(many(1204, "delivery", "deliveries"), "1,204 deliveries");
  },
});
