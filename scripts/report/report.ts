/**
 * Writes what the documents say of costs and results: the tables and charts between markers, and the charts themselves. To be
 * run when `bench/results/` or a rule of the functions has changed; `report.test.ts` compares.
 *
 *     npm run report
 */
import { readFileSync, writeFileSync } from "node:fs";
import { type Recording, readResults } from "../../bench/results.ts";
import { shardSizesTable } from "../../bench/simulation/shardSizes.ts";
import { figures } from "../../bench/simulation/tables.ts";
import { TABLES } from "../../bench/tables.ts";
import { charts, picture, svg, THEMES } from "./charts.ts";
import { costParts } from "./costTables.ts";
import { editionCosts, editionParts } from "./editionTables.ts";
import { fill, type Parts } from "./fill.ts";
import { visitorTable, writtenShares } from "./visitors.ts";

/** Every file with computed parts, as it should be, by its path from the repository's root. */
export function documents(): Record<string, string> {
  const [contest, slow, simulation] = [readResults("contest"), readResults("slow"), readResults("simulation").results];
  const shares = writtenShares();
  const [speed] = Object.values(TABLES.contest(contest.results));
  const [slowSpeed] = Object.values(TABLES.contest(slow.results));
  const [crowd, readers] = Object.values(TABLES.totals(readResults("totals").results));
  const single = (name: "overhead" | "coldStart" | "freshness" | "crowd") =>
    Object.values(TABLES[name](readResults(name).results as never)).join("\n\n");
  const tables = {
    "bench:conditions": conditions(contest),
    ...{ "bench:speed": speed, "bench:slow": slowSpeed },
    ...{ "bench:overhead": single("overhead"), "bench:coldStart": single("coldStart") },
    ...{ "bench:rates": single("freshness"), "bench:crowds": single("crowd"), simulation: figures(simulation) },
    ...{ "bench:totals": crowd, "costs:readers": readers },
    "simulation:shards": shardSizesTable(readResults("shardSizes").results),
    ...costParts(),
    ...editionParts(),
    "costs:visitors": visitorTable(shares),
  } as Parts;
  const drawn = charts(contest.results, slow.results, simulation, shares, editionCosts());
  const filled = (file: string, folder: string) => {
    const pictures = drawn.map((chart) => [`chart:${chart.name}`, picture(chart, folder)]);
    return { [file]: fill(readFileSync(file, "utf8"), { ...tables, ...Object.fromEntries(pictures) }) };
  };
  const pictures = drawn.flatMap((chart) =>
    Object.entries(THEMES).map(([theme, colors]) => [`docs/charts/${chart.name}-${theme}.svg`, svg(chart, colors)]),
  );
  return {
    ...filled("README.md", "docs/charts"),
    ...filled("docs/costs.md", "charts"),
    ...filled("docs/events.md", "charts"),
    ...filled("docs/performance.md", "charts"),
    ...filled("bench/simulation/README.md", "../../docs/charts"),
    ...Object.fromEntries(pictures),
  };
}

/** When, where and under which conditions the contest was recorded. */
function conditions({ recordedOn, machine, versions, conditions: set }: Recording<"contest">): string {
  if (!set) throw new Error("the contest was recorded without its conditions");
  const named = Object.entries(versions).map(([name, version]) => `\`${name}\` ${version}`);
  const { limits, latencies } = set;
  return [
    `Recorded on ${recordedOn} on ${machine.cores} cores (${machine.cpu}), Node ${machine.node},`,
    `${named.join(", ")}. A document takes ${limits.perSecond} write per second, ${limits.burst} at once`,
    `after a rest; a write that would wait longer than ${limits.longestWait / 1_000} s is refused. Latency each way:`,
    `${latencies.clients} ms for clients, ${latencies.functions} ms for functions.`,
  ].join("\n");
}

if (import.meta.main) {
  for (const [file, content] of Object.entries(documents())) {
    if (readFileSync(file, { encoding: "utf8", flag: "a+" }) === content) continue;
    writeFileSync(file, content);
    console.log(file);
  }
}
