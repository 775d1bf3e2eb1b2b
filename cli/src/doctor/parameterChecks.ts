/** Whether the parameters of the functions are valid, the same in all of them, and do not contradict each other. */
import { groupOf, mirrorTarget } from "../../../core/src/index.ts";
import {
  checkParameters as assertValid,
  COUNTING_DEFAULTS,
  type ParameterValues,
  parseConfig,
  type Settings,
} from "../../../functions/src/decisions.ts";
import { toCommandError } from "../commandError.ts";
import type { CounterSample, SampledCounter } from "./counterFacts.ts";
import { type Deployment, deploymentsFor, variablesOf } from "./deployments.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { DEPLOY_FUNCTIONS, errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

export const SET_AND_DEPLOY = `in the .env file of the functions, and ${DEPLOY_FUNCTIONS}`;

export function checkParameters({ functions, target, counters }: ProjectFacts): Finding[] {
  return deploymentsFor(seen(functions) ?? [], target).flatMap((deployment) => {
    const variables = variablesOf(deployment);
    if (!variables) return [];
    const values = { ...COUNTING_DEFAULTS, ...variables };
    const isEmulated = target.emulator !== null;
    const { prefix } = deployment;
    return [
      ...areDifferent(deployment),
      ...ifValid(`every invocation of ${prefix}`, () => {
        const config = parseConfig(values, isEmulated, target.project);
        return [
          ...contradictions(config, isEmulated),
          ...checkEventsCollection(config, values),
          ...staleFields(config, seen(counters)?.counters ?? []),
          ...adoptedOrNot(config, seen(counters)),
        ];
      }),
      ...ifValid(`every request to ${prefix}-ingest`, () => {
        assertValid(values);
        return [];
      }),
    ];
  });
}

/** What is found in values that are valid. @param affected  what fails with a value that is not */
function ifValid(affected: string, check: () => Finding[]): Finding[] {
  try {
    return check();
  } catch (error) {
    const { message } = toCommandError(error);
    return [errorFinding("parameters-invalid", `${affected} fails: ${message}`, `correct it ${SET_AND_DEPLOY}`)];
  }
}

/** Increments with `once` that no function publishes, though there is a topic. */
function checkEventsCollection(
  { collection }: Settings,
  { EVENTS_TOPIC, EVENTS_COLLECTION }: ParameterValues,
): Finding[] {
  const isRight = EVENTS_COLLECTION === collection || EVENTS_COLLECTION === COUNTING_DEFAULTS.EVENTS_COLLECTION;
  if (!EVENTS_TOPIC || isRight) return [];
  return [
    errorFinding(
      "events-elsewhere",
      `EVENTS_COLLECTION is "${EVENTS_COLLECTION}", and the counters are in "${collection}": no increment with once is published to EVENTS_TOPIC`,
      `set it to ${collection}, or to ${COUNTING_DEFAULTS.EVENTS_COLLECTION} to publish none, ${SET_AND_DEPLOY}`,
    ),
  ];
}

function areDifferent({ functions }: Deployment): Finding[] {
  const all = [...functions.values()].map(({ variables }) => variables).filter((one) => one !== null);
  const differing = Object.keys(COUNTING_DEFAULTS).filter((name) => new Set(all.map((one) => one[name])).size > 1);
  if (differing.length === 0) return [];
  return [
    errorFinding(
      "parameters-differ",
      `${listed(differing)} ${differing.length === 1 ? "is" : "are"} not the same in all functions, as after a deployment of some of them`,
      `deploy them together: ${DEPLOY_FUNCTIONS}`,
    ),
  ];
}

/** Fields that have shown totals, and that no parameter names any more. */
function staleFields({ mirrors }: Settings, counters: readonly SampledCounter[]): Finding[] {
  const stale = counters.filter(
    ({ id, published, mirrored }) =>
      mirrored !== null && published && published.total !== mirrored && !mirrorTarget(id, mirrors),
  );
  if (stale.length === 0) return [];
  return [
    warningFinding(
      "mirror-missing",
      `the field that has shown ${listed(stale.map(({ id }) => id))} stands still: neither MIRRORS nor BRIDGE names it`,
      `name it in MIRRORS, ${SET_AND_DEPLOY}; a value that the CLI has stored in .env.<project> or .env.local comes before .env. If no app reads the field, ignore this`,
    ),
  ];
}

/** Counters that old apps write, and the parameter for them. */
function adoptedOrNot({ adopted }: Settings, sample: CounterSample | undefined): Finding[] {
  if (!sample) return [];
  const withOldClients = sample.counters.filter(({ numShards }) => numShards !== null).map(({ id }) => id);
  if (adopted && withOldClients.length === 0 && sample.isComplete)
    return [
      warningFinding(
        "adopted-unused",
        "ADOPTED is yes, and no counter has num_shards: each write of a shard costs an invocation for nothing",
        `set it to no, ${SET_AND_DEPLOY}`,
      ),
    ];
  if (adopted || withOldClients.length === 0) return [];
  return [
    warningFinding(
      "adopted-off",
      `${listed(withOldClients)} ${withOldClients.length === 1 ? "has" : "have"} num_shards, and ADOPTED is no: what old apps add is published late, and each such counter is polled for ever`,
      `set it to yes, ${SET_AND_DEPLOY}; or, if no old app is left, run \`npx firestore-tally adopt --end\``,
    ),
  ];
}

function contradictions(config: Settings, isEmulated: boolean): Finding[] {
  const { minShards, maxShards, collections: counted, mirrors, maxInterval } = config;
  const findings: Finding[] = [];
  if (maxShards === minShards) {
    findings.push(
      warningFinding(
        "shards-fixed",
        `MIN_SHARDS and MAX_SHARDS are both ${minShards}, so no counter grows with its load`,
        `raise MAX_SHARDS, 10000 at most, ${SET_AND_DEPLOY}`,
      ),
    );
  }
  if (minShards > 1) {
    findings.push(
      warningFinding(
        "shards-minimum",
        `MIN_SHARDS is ${minShards}: each counter that was written is polled until the cool-down`,
        `set it to 1 ${SET_AND_DEPLOY}; prepare single counters for a crowd with ensureCounter(ref, { shards })`,
      ),
    );
  }
  const name = counted?.at(-1);
  const countsMany = counted?.some((segment) => segment.startsWith("{")) ?? false;
  const ofCounted = mirrors.filter(({ counters }) => groupOf(`${counters}:`) === name);
  const unused = ofCounted.find(({ counters }) => counters.includes(":") !== countsMany);
  if (unused) {
    findings.push(
      warningFinding(
        "mirror-unused",
        `MIRRORS names ${unused.counters}, but COUNTED_COLLECTION makes ${countsMany ? `counters ${name}:name` : `the one counter ${name}`}, so nothing is mirrored`,
        `${countsMany ? "put {name} into" : "take {name} out of"} the path of the mirror of ${name}, ${SET_AND_DEPLOY}`,
      ),
    );
  }
  if (ofCounted.some(({ isBridged }) => isBridged)) {
    findings.push(
      errorFinding(
        "bridge-counted",
        `BRIDGE takes increments of old apps into ${name}, whose total COUNTED_COLLECTION counts: they change nothing`,
        `leave one of the two out, ${SET_AND_DEPLOY}`,
      ),
    );
  }
  if (isEmulated && maxInterval > 60_000) {
    findings.push(
      warningFinding(
        "interval-emulator",
        `MAX_INTERVAL_SECONDS is ${maxInterval / 1_000}; in the emulator tasks wait inside the functions for so long`,
        "set it to 60 or less in .env.local",
      ),
    );
  }
  return findings;
}
