/** Reads all facts of a project: what is deployed from Google's APIs or the emulators, the counters from the database. */
import type { CommandContext } from "../commandContext.ts";
import { toCommandError } from "../commandError.ts";
import { factOf, type ProjectFacts, seen } from "./facts.ts";
import { connectApis, nothingSeen, reasonOf, standIn } from "./googleApis.ts";
import { readApis } from "./readApis.ts";
import { type ReadMeter, readCounters } from "./readCounters.ts";
import { readEmulators } from "./readEmulators.ts";
import { readPlan } from "./readPlan.ts";

export interface ProjectOptions {
  /** How many counters are looked at. */
  readonly sample: number;
  /** Returns the rules of this version. */
  readonly readOwnRules: () => string;
}

/**
 * Writes nothing.
 *
 * @throws CommandError without credentials, or if nothing could be seen
 */
export async function readProject(
  context: CommandContext,
  { sample, readOwnRules }: ProjectOptions,
): Promise<ProjectFacts> {
  const { target } = context;
  const meter: ReadMeter = { reads: 0 };
  const usesApis = target.emulator === null || standIn() !== undefined;
  const [ownRules, deployed, counters] = await Promise.all([
    factOf(
      async () => readOwnRules(),
      () => "firestore.rules of this package is missing",
    ),
    usesApis ? readApis(await connectApis(target.project), target) : readEmulators(target),
    factOf(
      () => readCounters(context, sample, meter),
      (error) => toCommandError(error).message,
    ),
  ]);
  const plan = await factOf(() => readPlan(context, seen(counters), meter), reasonOf);
  const facts = { target, ownRules, ...deployed, counters, plan, reads: meter.reads };
  if (!["rules", "database", "functions", "counters"].some((name) => "value" in facts[name as "rules"]))
    throw nothingSeen();
  return facts;
}
