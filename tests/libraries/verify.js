// Judges signed requests by the official JavaScript library: a list of them as JSON comes in, a list of true and false
// goes out.

const { readFileSync } = require("node:fs");
const { Webhook, WebhookVerificationError } = require("standardwebhooks");

function holds({ secret, headers, body }) {
  try {
    new Webhook(secret).verify(Buffer.from(body, "base64"), headers);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
  return true;
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(holds)));
