/** Whether what clients and ingest write for a feature is counted: it waits in documents of its own until a function takes it. */
import type { Waiting } from "./counterFacts.ts";
import { deploymentsFor } from "./deployments.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { type Finding, listed, warningFinding } from "./finding.ts";
import { SET_AND_DEPLOY } from "./parameterChecks.ts";

/** A function takes a document within seconds. */
const LATE_MS = 60_000;

/** Of visitors and items: the function that takes them, and the parameter that turns it on. */
const FEATURES = [
  ["visitors", "mergevisitors", "VISITORS"],
  ["items", "mergeitems", "ITEMS"],
] as const;

export function checkWaiting({ counters, functions, target }: ProjectFacts): Finding[] {
  const { waiting, now } = seen(counters) ?? { waiting: [], now: 0 };
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  const find = (kind: Waiting["kind"], since: "createdAt" | "updatedAt", what: string, why: string, remedy: string) => {
    const late = waiting.filter((one) => one.kind === kind && now - one[since] > LATE_MS);
    if (late.length === 0) return [];
    const owners = listed([...new Set(late.map(({ owner }) => owner))]);
    return [warningFinding(`${kind}-waiting`, `${what} of ${owners} wait for over a minute: ${why}`, remedy)];
  };
  return [
    ...find(
      "legacy-shards",
      "updatedAt",
      "`_counter_shards_`",
      "nothing adds the increments of these old apps up",
      "name their fields in BRIDGE and deploy; then `npx firestore-tally migrate` moves what has waited",
    ),
    ...FEATURES.flatMap(([kind, merging, parameter]) =>
      deployment && !deployment.functions.has(merging)
        ? find(kind, "createdAt", kind, `no function ${merging} runs`, `set ${parameter}=yes ${SET_AND_DEPLOY}`)
        : [],
    ),
  ];
}
