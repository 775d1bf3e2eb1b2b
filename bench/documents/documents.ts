/** Every file that is computed, whole or in parts, as it should be. */
import { readFileSync } from "node:fs";
import { costParts } from "./costs.ts";
import { fill } from "./fill.ts";

/** @returns the content of each file, by its path from the repository's root */
export function documents(): Record<string, string> {
  const filled = (file: string, parts: Record<string, string>) => fill(readFileSync(file, "utf8"), parts);
  return { "docs/costs.md": filled("docs/costs.md", costParts()) };
}
