/**
 * Exports the functions: as one group in a plain codebase, else one by one. `npm run derive` writes their names. What a write of a shard sets
 * off begins in counter/wake.ts; docs/architecture.md has the whole path.
 */
import { packaging } from "./deploy/packaging.ts";
import { isEmulatorDiscovery, sweepAfterLoading } from "./deploy/sweepAfterLoading.ts";
import { functions } from "./deploy/triggers.ts";

const isGrouped = packaging() === "plain codebase";
const single: Partial<typeof functions> = isGrouped ? {} : functions;

export const {
  shardcreated,
  shardzeroupdated,
  baseupdated,
  aggregate,
  sweep,
  mergevisitors,
  merge,
  documentcreated,
  documentdeleted,
  exchange,
  ingest,
  ingestmessages,
  mergeitems,
  logevents,
  logincrements,
  totals,
  shardupdated,
  legacyshardwritten,
} = single;
export const tally = isGrouped ? functions : undefined;

if (isEmulatorDiscovery(process.env)) void sweepAfterLoading(process.env);
