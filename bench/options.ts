/** The command line of the benchmark: its options, their defaults, and what each accepts. */
import { parseArgs } from "node:util";
import { PACKAGINGS, type Packaging } from "../testkit/emulators/project.ts";
import { DEFAULT_LIMITS } from "../testkit/governor.ts";
import type { ContenderName } from "./contenders.ts";
import { loads } from "./loads.ts";
import { isSlow, runAgain } from "./slowMotion.ts";

/** Parts that share one suite behind the governor; a run without `--only` consists of these. */
export const GOVERNED_PARTS = ["contest", "overhead", "aggregation"] as const;
/** Parts that start suites of their own. */
export const PLAIN_PARTS = ["freshness", "crowd"] as const;
const PARTS = [...GOVERNED_PARTS, ...PLAIN_PARTS];
const NAMES: readonly ContenderName[] = ["single", "recipe", "tally"];
const LATENCIES = { clients: 25, functions: 2 };

const USAGE = `Usage: npm run bench -- [options]

  --only PART,…          of ${PARTS.join(", ")} (default: ${GOVERNED_PARTS.join(", ")})
  --contenders NAME,…    of ${NAMES.join(", ")} (default: all)
  --loads LOAD,…         of ${loads()
    .map(({ name }) => name)
    .join(", ")} (default: all)
  --seconds N            how long each load is measured (default of freshness: 60, of crowd: 8)
  --per-second N         writes per second that a document sustains (default: ${DEFAULT_LIMITS.perSecond})
  --burst N              writes that it takes at once after a rest (default: ${DEFAULT_LIMITS.burst})
  --longest-wait SECONDS how long a write waits before it is ABORTED instead (default: ${DEFAULT_LIMITS.longestWait / 1_000})
  --latency MS           between clients and Firestore, each way (default: ${LATENCIES.clients})
  --slow N               on a clock N times slower, for loads that this machine cannot carry
  --out FILE             where the results go (default: of a whole run, bench/results/bench.json)

  Of the crowd:
  --clients N            web clients (default: 150)
  --rate N               increments per second of all clients together (default: 100)
  --as PACKAGING         of ${PACKAGINGS.join(", ")} (default: plain)
  --governor             behind the governor, with the limits and the latency above
  --runs N               how often (default: 1)`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    contenders: { type: "string" },
    loads: { type: "string" },
    seconds: { type: "string" },
    "per-second": { type: "string" },
    burst: { type: "string" },
    "longest-wait": { type: "string" },
    latency: { type: "string" },
    slow: { type: "string" },
    out: { type: "string" },
    clients: { type: "string" },
    rate: { type: "string" },
    as: { type: "string" },
    governor: { type: "boolean" },
    runs: { type: "string" },
    help: { type: "boolean" },
  },
});

if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(1);
}
function chosen<Name extends string>(
  option: "only" | "contenders" | "loads" | "as",
  from: readonly Name[],
  usual = from,
): Name[] {
  const names = values[option]?.split(",") ?? usual;
  for (const name of names) {
    if (!from.includes(name as Name)) refuse(`--${option} ${name}: it is one of ${from.join(", ")}.`);
  }
  return names as Name[];
}
type Amount = "seconds" | "per-second" | "burst" | "longest-wait" | "latency" | "slow" | "clients" | "rate" | "runs";
function positive(option: Amount): number | undefined {
  const value = values[option] === undefined ? undefined : Number(values[option]);
  if (value !== undefined && !(value > 0)) refuse(`--${option} ${values[option]}: it is a positive number.`);
  return value;
}

const slow = positive("slow");
if (slow !== undefined && !isSlow()) runAgain(slow);

export const seconds = positive("seconds");
export const parts = chosen("only", PARTS, GOVERNED_PARTS);
export const contenders = chosen("contenders", NAMES);
const offered = loads(seconds, isSlow());
const names = chosen(
  "loads",
  offered.map(({ name }) => name),
);
export const chosenLoads = offered.filter(({ name }) => names.includes(name));
const longestWait = positive("longest-wait");
export const limits = {
  perSecond: positive("per-second") ?? DEFAULT_LIMITS.perSecond,
  burst: positive("burst") ?? DEFAULT_LIMITS.burst,
  longestWait: longestWait ? longestWait * 1_000 : DEFAULT_LIMITS.longestWait,
};
export const latencies = { ...LATENCIES, clients: positive("latency") ?? LATENCIES.clients };
export const runs = positive("runs") ?? 1;
export const crowd = {
  clients: positive("clients") ?? 150,
  perSecond: positive("rate") ?? 100,
  seconds: seconds ?? 8,
  packaging: chosen("as", PACKAGINGS, ["plain"])[0] as Packaging,
  governed: values.governor ? { limits, latencies } : undefined,
};

export const isWhole = !Object.values(values).some((value) => value !== undefined);
export const { out } = values;
