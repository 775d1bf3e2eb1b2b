/**
 * Scenarios for the table of docs/reliability.md: the parameters as deployed, one kind of fault as often as it can be, or all of them
 * together, and a sweep every five minutes until the last event that was lost for hours has arrived.
 */
import { randomFor } from "../../../core/testing/random.ts";
import { DEFAULT_CONFIG } from "../../../functions/src/deploy/defaultConfig.ts";
import { FAILING_STEPS, type FailingStep } from "../failingSteps.ts";
import { FAULTS, type Fault } from "../faults.ts";
import { type Action, MS, type Scenario, SECOND } from "./scenario.ts";
import { scenarioOf } from "./scenarioOf.ts";

/** The share of calls, events and tasks that get the fault. */
const WORST_RATE = 0.3;
const SWEEP_EVERY = 300 * SECOND;
const LAST_SWEEP = 3.5 * 3_600 * SECOND;
const NONE = "none";
const ALL = "all faults together";

/** What goes wrong, by the remainder of the seed. */
const KINDS: readonly string[] = [NONE, ...FAULTS, ...Object.keys(FAILING_STEPS), ALL];

/** @returns one of {@link KINDS} */
export function worstKindOf(seed: number): string {
  return KINDS[seed % KINDS.length] as string;
}

export function worstScenarioOf(seed: number): Scenario {
  const random = randomFor(seed, "worst");
  const kind = worstKindOf(seed);
  const scenario = scenarioOf(seed);
  const faults = FAULTS.filter((fault) => fault === kind || kind === ALL);
  const traffic = scenario.actions.filter(
    ({ does }) => !["kill", "killServer", "closeClient", "freeze", "bareWrite"].includes(does),
  );
  const end = traffic.at(-1)?.at ?? 0;
  const every = (seconds: number, last: number, action: () => Omit<Action, "at">) =>
    Array.from({ length: Math.ceil(last / (seconds * SECOND)) }, (_, n) => ({ at: n * seconds * SECOND, ...action() }));
  const instance = () => random.integer(0, 1);
  const has = (fault: Fault) => faults.includes(fault);
  const disturbances = [
    ...(has("crashes")
      ? every(3, end, () => ({ does: "kill", instance: instance(), seconds: random.pick([0.1, 1, 5]) }))
      : []),
    ...(has("freezes")
      ? every(10, end, () => ({ does: "freeze", instance: instance(), seconds: random.pick([1, 5, 60]) }))
      : []),
    ...every(SWEEP_EVERY / SECOND, end + LAST_SWEEP, () => ({ does: "sweep" })),
  ] as Action[];
  const { minShards, maxShards, writesPerShard, shrinkCooldown, minInterval, maxInterval, precision } = DEFAULT_CONFIG;
  return {
    ...scenario,
    config: {
      ...scenario.config,
      ...{ minShards, maxShards, writesPerShard, shrinkCooldown, minInterval, maxInterval, precision },
    },
    faults,
    faultRate: WORST_RATE,
    latency: 5 * MS,
    instances: 2,
    snapshotLag: 0,
    index: "ready",
    ...(kind in FAILING_STEPS && { failing: kind as FailingStep }),
    actions: [...traffic, ...disturbances].toSorted((a, b) => a.at - b.at),
  };
}
