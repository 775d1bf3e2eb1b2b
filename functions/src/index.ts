/** Exports the functions: as one group in a plain codebase, else one by one. */
import { packaging } from "./packaging.ts";
import * as triggers from "./triggers.ts";

const isGrouped = packaging() === "plain codebase";
const single: Partial<typeof triggers> = isGrouped ? {} : triggers;

export const {
  wake,
  wakezero,
  wakebase,
  created,
  deleted,
  bridge,
  visitors,
  ingest,
  ingestevents,
  logevents,
  logentries,
  totals,
  mergeitems,
  aggregate,
  sweep,
} = single;
export const tally = isGrouped ? { ...triggers } : undefined;
