/** What `doctor` could not see, and why: a project is only as healthy as it could be looked at. */
import { deploymentsFor, variablesOf } from "./deployments.ts";
import { type Fact, type ProjectFacts, seen } from "./facts.ts";

export interface Unseen {
  readonly part: string;
  readonly reason: string;
}

export function unseenOf(facts: ProjectFacts): Unseen[] {
  const parts: readonly (readonly [part: string, fact: Fact<unknown>])[] = [
    ["rules", "unseen" in facts.shippedRules ? facts.shippedRules : facts.rules],
    ["location of the database", facts.database],
    ["firebase.json", facts.declared],
    ["functions", facts.functions],
    ["parameters", parametersOf(facts)],
    ["task queue", facts.queue],
    ["last attempts of tasks", facts.failedTasks],
    ["roles of the functions' account", facts.grants],
    ["schedule of the sweep", facts.sweepJob],
    ["indexes", "unseen" in facts.shippedIndexes ? facts.shippedIndexes : facts.indexes],
    ["index exemptions and TTL policies", "unseen" in facts.shippedIndexes ? facts.shippedIndexes : facts.fields],
    ["query plan", facts.plan],
    ["App Check", facts.appCheck],
    ["counters", facts.counters],
    ["other regions", facts.regions],
    ["mirrors", facts.mirrors],
  ];
  return parts.flatMap(([part, fact]) => ("unseen" in fact ? [{ part, reason: fact.unseen }] : []));
}

function parametersOf({ functions, target }: ProjectFacts): Fact<unknown> {
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  if (!deployment) return { unseen: "no functions of Tally were found for it" };
  const variables = variablesOf(deployment);
  return variables ? { value: variables } : { unseen: "the functions do not show them" };
}
