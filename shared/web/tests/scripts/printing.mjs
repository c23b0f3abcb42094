import { assert, script, tell } from "./story.mjs";

const { hex, lines, textOf } = await script("printing");

const shown = (text) =>
  lines(text)?.map(({ depth, parts }) => "  ".repeat(depth) + parts.map(([, part]) => part).join(""));
const bare = (text) => text.replace(/[ \n]/g, "");

await tell({
  values: () => {
    const text =
      '{"id":12345678901234567890,"price":1.10,"list":[-0,1E+2,{"a":[]}],"none":{},"said":"\\u202e <img>","yes":true}';
    assert.deepEqual(shown(text), [
      "{",
      '  "id": 12345678901234567890,',
      '  "price": 1.10,',
      '  "list": [',
      "    -0,",
      "    1E+2,",
      "    {",
      '      "a": []',
      "    }",
      "  ],",
      '  "none": {},',
      '  "said": "\\u202e <img>",',
      '  "yes": true',
      "}",
    ]);
    // Whatever it is set out as, it is the same letters, and keys stay in their order and stand as often as they came.
    for (const one of [
      text,
      '{"b":1,"a":2,"b":3}',
      "[[],[[]],{}]",
      '"a"',
      "1e400",
      " [ 1 , 2 ] ",
      '{"a":{"b":{"c":null}}}',
    ]) {
      assert.equal(bare(shown(one).join("\n")), bare(one));
    }
    const kinds = lines('{"k":"v","n":1,"w":null}')
      .flatMap(({ parts }) => parts)
      .filter(([kind]) => kind !== "mark");
    assert.deepEqual(
      kinds.map(([kind]) => kind),
      ["key", "text", "key", "number", "key", "word"],
    );
  },
  others: () => {
    const others = [
      "",
      "{",
      "[",
      "1 2",
      "[1,]",
      "[,1]",
      '{"a":1,}',
      "{1:2}",
      '{"a" 1}',
      '{"a":}',
      "01",
      "1.",
      "+1",
      "-",
      "nul",
      "[1}",
      "]",
      ",",
      "[1 2]",
      '"a',
      '"\n"',
      "'a'",
      "NaN",
      "\u00a01",
      '{"a":1}{',
      "hello",
      "a=1&b=2",
    ];
    for (const other of others) assert.equal(lines(other), null, JSON.stringify(other));
    // Deeper than anybody reads: it is shown as it came, and no stack runs over.
    assert.equal(lines("[".repeat(1_000_000)), null);
    assert.equal(lines("[".repeat(250) + "]".repeat(250)), null);
    assert.notEqual(lines("[".repeat(150) + "]".repeat(150)), null);
  },
  long: () => {
    const many = `[${Array.from({ length: 200_000 }, (_, n) => n).join(",")}]`;
    const set = lines(many, 500);
    assert.equal(set.length, 501);
    assert.deepEqual(set[1].parts, [
      ["number", "0"],
      ["mark", ","],
    ]);
    assert.equal(lines(many).length, 200_002);
    const text = `"${"x".repeat(4 * 1024 * 1024)}"`;
    assert.equal(lines(text)[0].parts[0][1].length, text.length);
  },
  bytes: () => {
    const all = Uint8Array.from({ length: 18 }, (_, n) => [0, 255, 0x41, 0x7e, 0x7f][n] ?? n);
    assert.deepEqual(hex(all, 0, 100), [
      "00000000  00 ff 41 7e 7f 05 06 07  08 09 0a 0b 0c 0d 0e 0f  ..A~............",
      "00000010  10 11                                             ..",
    ]);
    assert.equal(hex(all, 0, 16).length, 1);
    const utf8 = (text) => new TextEncoder().encode(text);
    assert.equal(textOf(utf8("\ufeffgrün 😀")), "\ufeffgrün 😀", "a mark at the beginning is part of it");
    assert.equal(textOf(Uint8Array.of(0xc3, 0x28)), null);
    assert.equal(textOf(Uint8Array.of(0x61, 0)), null);
  },
});
