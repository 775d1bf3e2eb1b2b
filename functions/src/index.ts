/** Exports the functions: as one group in a plain codebase, else one by one. */
import { packaging } from "./deploy/packaging.ts";
import { isEmulatorDiscovery, sweepAfterLoading } from "./deploy/sweepAfterLoading.ts";
import * as triggers from "./deploy/triggers.ts";

const isGrouped = packaging() === "plain codebase";
const single: Partial<typeof triggers> = isGrouped ? {} : triggers;

export const {
  shardcreated,
  shardzeroupdated,
  baseupdated,
  shardupdated,
  documentcreated,
  documentdeleted,
  exchange,
  legacyshardwritten,
  mergevisitors,
  ingest,
  ingestmessages,
  logevents,
  logincrements,
  totals,
  merge,
  mergeitems,
  aggregate,
  sweep,
} = single;
export const tally = isGrouped ? { ...triggers } : undefined;

if (isEmulatorDiscovery(process.env)) void sweepAfterLoading(process.env);
