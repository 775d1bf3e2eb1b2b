/** Whether the parameters of the functions are valid, the same in all of them, and do not contradict each other. */
import { groupOf, mirrorTarget } from "../../../core/src/index.ts";
import { type Config, DEFAULT_PARAMETERS, parseConfig } from "../../../functions/src/decisions.ts";
import { toCommandError } from "../commandError.ts";
import type { SampledCounter } from "./counterFacts.ts";
import { type Deployment, deploymentsFor, variablesOf } from "./deployments.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed, warningFinding } from "./finding.ts";

const DEPLOY = "in the .env file of the functions, and run `firebase deploy --only functions`";

export function checkParameters({ functions, target, counters }: ProjectFacts): Finding[] {
  return deploymentsFor(seen(functions) ?? [], target).flatMap((deployment) => {
    const variables = variablesOf(deployment);
    if (!variables) return [];
    const differing = areDifferent(deployment);
    try {
      const config = parseConfig({ ...DEFAULT_PARAMETERS, ...variables }, target.emulator !== null, target.project);
      return [
        ...differing,
        ...contradictions(config, target.emulator !== null),
        ...staleFields(config, seen(counters)?.counters ?? []),
      ];
    } catch (error) {
      const { message } = toCommandError(error);
      return [
        ...differing,
        errorFinding(
          "parameters-invalid",
          `every invocation of ${deployment.prefix} fails: ${message}`,
          `correct it ${DEPLOY}`,
        ),
      ];
    }
  });
}

function areDifferent({ functions }: Deployment): Finding[] {
  const all = [...functions.values()].map(({ variables }) => variables).filter((one) => one !== null);
  const differing = Object.keys(DEFAULT_PARAMETERS).filter((name) => new Set(all.map((one) => one[name])).size > 1);
  if (differing.length === 0) return [];
  return [
    errorFinding(
      "parameters-differ",
      `${listed(differing)} ${differing.length === 1 ? "is" : "are"} not the same in all functions, as after a deployment of some of them`,
      "deploy them together: `firebase deploy --only functions`",
    ),
  ];
}

/** Fields that have shown totals, and that no parameter names any more. */
function staleFields({ mirrors }: Config, counters: readonly SampledCounter[]): Finding[] {
  const stale = counters.filter(
    ({ id, published, mirrored }) =>
      mirrored !== null && published && published.total !== mirrored && !mirrorTarget(id, mirrors),
  );
  if (stale.length === 0) return [];
  return [
    warningFinding(
      "mirror-missing",
      `the field that has shown ${listed(stale.map(({ id }) => id))} stands still: neither MIRRORS nor BRIDGE names it`,
      `name it in MIRRORS, ${DEPLOY}; a value that the CLI has stored in .env.<project> or .env.local comes before .env. If no app reads the field, ignore this`,
    ),
  ];
}

function contradictions(config: Config, isEmulated: boolean): Finding[] {
  const { minShards, maxShards, counted, mirrors, maxInterval } = config;
  const findings: Finding[] = [];
  if (maxShards === minShards) {
    findings.push(
      warningFinding(
        "shards-fixed",
        `MIN_SHARDS and MAX_SHARDS are both ${minShards}, so no counter grows with its load`,
        `raise MAX_SHARDS, 10000 at most, ${DEPLOY}`,
      ),
    );
  }
  if (minShards > 1) {
    findings.push(
      warningFinding(
        "shards-minimum",
        `MIN_SHARDS is ${minShards}: each counter that was written is polled until the cool-down`,
        `set it to 1 ${DEPLOY}; prepare single counters for a crowd with ensureCounter(ref, { shards })`,
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
        `MIRRORS names ${unused.counters}, but COUNTED_COLLECTION makes ${countsMany ? `counters ${name}:key` : `the one counter ${name}`}, so nothing is mirrored`,
        `${countsMany ? "put {key} into" : "take {key} out of"} the path of the mirror of ${name}, ${DEPLOY}`,
      ),
    );
  }
  if (ofCounted.some(({ isBridged }) => isBridged)) {
    findings.push(
      errorFinding(
        "bridge-counted",
        `BRIDGE takes increments of old apps into ${name}, whose total COUNTED_COLLECTION counts: they change nothing`,
        `leave one of the two out, ${DEPLOY}`,
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
