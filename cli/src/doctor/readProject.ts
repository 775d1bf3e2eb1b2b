/** Reads all facts of a project: what is deployed from Google's APIs or the emulators, the counters from the database. */
import type { CommandContext } from "../commandContext.ts";
import { toCommandError } from "../commandError.ts";
import { readText } from "../databaseTarget.ts";
import { nearestFirebaseJson } from "../nearestFirebaseJson.ts";
import { declaredDatabase } from "./declaredDatabase.ts";
import { regionsOf } from "./exchangeChecks.ts";
import { factOf, type ProjectFacts, type ShippedIndexes, seen } from "./facts.ts";
import { connectApis, nothingSeen, reasonOf, standIn } from "./googleApis.ts";
import { readApis } from "./readApis.ts";
import { readCounters } from "./readCounters.ts";
import { readEmulators } from "./readEmulators.ts";
import type { ReadMeter } from "./readMeter.ts";
import { mirrorsOf, readMirrors } from "./readMirrors.ts";
import { readPlan } from "./readPlan.ts";
import { readRegions } from "./readRegions.ts";

export interface ProjectOptions {
  /** How many counters are looked at. */
  readonly sample: number;
  /** Returns a file of this version. */
  readonly readShipped: (file: "firestore.rules" | "firestore.indexes.json") => string;
}

/**
 * Writes nothing.
 *
 * @throws CommandError without credentials, or if nothing could be seen
 */
export async function readProject(
  context: CommandContext,
  { sample, readShipped }: ProjectOptions,
): Promise<ProjectFacts> {
  const { target } = context;
  const meter: ReadMeter = { reads: 0 };
  const usesApis = target.emulator === null || standIn() !== undefined;
  const missing = () => "it is missing in this package";
  const [shippedRules, shippedIndexes, declared, deployed, counters] = await Promise.all([
    factOf(async () => readShipped("firestore.rules"), missing),
    factOf(async (): Promise<ShippedIndexes> => JSON.parse(readShipped("firestore.indexes.json")), missing),
    // An emulator has neither a location nor an edition.
    factOf(async () => (usesApis ? declaredDatabase(nearestFirebaseJson(readText), target.database) : null), reasonOf),
    usesApis ? readApis(await connectApis(target.project), target) : readEmulators(target),
    factOf(
      () => readCounters(context, sample, meter),
      (error) => toCommandError(error).message,
    ),
  ]);
  const plan = await factOf(() => readPlan(context, seen(counters), meter), reasonOf);
  const others = regionsOf({ ...deployed, target });
  const ids = seen(counters)?.counters.map(({ id }) => id) ?? [];
  const regions = await factOf(
    async () => (others ? await readRegions(context, others, ids, meter) : []),
    (error) => toCommandError(error).message,
  );
  const mirrors = await factOf(
    () => readMirrors(context, mirrorsOf({ ...deployed, target }), meter),
    (error) => toCommandError(error).message,
  );
  const facts = {
    target,
    shippedRules,
    shippedIndexes,
    declared,
    ...deployed,
    counters,
    plan,
    regions,
    mirrors,
    reads: meter.reads,
  };
  if (!["rules", "database", "functions", "counters"].some((name) => "value" in facts[name as "rules"]))
    throw nothingSeen();
  return facts;
}
