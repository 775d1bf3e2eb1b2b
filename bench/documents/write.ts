/**
 * Writes what the documents say of costs and results, and their charts: the tables between markers in docs/costs.md and
 * docs/performance.md, and docs/charts/. To be run whenever bench/results/ or a rule of the functions has changed.
 *
 *     npm run report
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { documents } from "./documents.ts";

for (const [file, content] of Object.entries(documents())) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  console.log(file);
}
