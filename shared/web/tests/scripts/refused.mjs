import { assert, script, tell } from "./story.mjs";

const { verifyLine } = await script("refused");

await tell({
  line: () => {
    const line = (scheme) => verifyLine("shop", scheme, "2026-07-01T12:00:00.900Z");
    const header = (name) => `--header '${name}: …'`;
    for (const [scheme, ...names] of [
      ["shopify", "X-Shopify-Hmac-Sha256", "X-Shopify-Topic"],
      ["stripe", "Stripe-Signature"],
      ["github", "X-Hub-Signature-256", "X-GitHub-Delivery", "X-GitHub-Event"],
      ["standard-webhooks", "webhook-id", "webhook-timestamp", "webhook-signature"],
    ]) {
      const text = line(scheme);
      assert.ok(text.startsWith("switchboard verify --source shop --at 1782907200 "), text);
      for (const name of names) assert.ok(text.includes(header(name)), `${name} in ${text}`);
      assert.ok(text.endsWith(" --body FILE"), text);
    }
    assert.ok(line(undefined).includes(header("NAME")), "a scheme that the page does not know");
  },
});
