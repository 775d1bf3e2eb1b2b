/** Every file that is computed, whole or in parts, as it should be. */
import { readFileSync } from "node:fs";
import { picture, svg, THEMES } from "./chart.ts";
import { CHARTS, charts } from "./charts.ts";
import { costParts } from "./costs.ts";
import { fill, type Parts } from "./fill.ts";
import { performanceParts } from "./performance.ts";
import { readBench, readCrowds, readFreshness, readSimulated, readSlow } from "./results.ts";
import { simulatedParts } from "./simulated.ts";

/** @returns the content of each file, by its path from the repository's root */
export function documents(): Record<string, string> {
  const [bench, slow, { traces: runs, rates }] = [readBench(), readSlow(), readSimulated()];
  const drawn = charts(bench, slow, runs);
  // A chart whose figures were not recorded leaves its place empty.
  const pictures = (folder: string, names: readonly string[]): Parts =>
    Object.fromEntries(
      names.map((name) => {
        const chart = drawn.find((one) => one.name === name);
        return [`chart:${name}`, chart ? picture(chart, folder) : ""];
      }),
    );
  const filled = (file: string, parts: Parts) => fill(readFileSync(file, "utf8"), parts);
  const files = drawn.flatMap((chart) =>
    Object.entries(THEMES).map(([theme, colors]) => [`docs/charts/${chart.name}-${theme}.svg`, svg(chart, colors)]),
  );
  return {
    "README.md": filled("README.md", pictures("docs/charts", ["viral"])),
    "docs/costs.md": filled("docs/costs.md", costParts()),
    "docs/performance.md": filled("docs/performance.md", {
      ...performanceParts(bench, slow, readFreshness(), readCrowds()),
      ...simulatedParts(runs, rates),
      ...pictures("charts", CHARTS),
    }),
    ...Object.fromEntries(files),
  };
}
