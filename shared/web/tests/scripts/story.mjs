// What the stories share: where the scripts are, which story is told, and as much of a document as they need to load.

import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";

const [, , folder, wanted] = process.argv;

const nothing = () => {};
const element = () => ({
  append: nothing,
  addEventListener: nothing,
  replaceChildren: nothing,
  setAttribute: nothing,
  classList: { add: nothing },
  dataset: {},
});
globalThis.addEventListener = nothing;
globalThis.document = { getElementById: element, createElement: element, querySelectorAll: () => [] };

export { assert };

export const script = (name) => import(pathToFileURL(`${folder}/${name}.js`).href);

export async function tell(stories) {
  await stories[wanted]();
  process.stdout.write(`${wanted}: told\n`);
  process.exit(0);
}
