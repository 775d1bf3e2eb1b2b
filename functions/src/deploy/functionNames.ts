/** Every function of a deployment, by the name of its export in triggers.ts, which tests compare. */
export const FUNCTIONS = [
  "shardcreated",
  "shardzeroupdated",
  "baseupdated",
  "shardupdated",
  "documentcreated",
  "documentdeleted",
  "legacyshardwritten",
  "mergevisitors",
  "mergeitems",
  "ingest",
  "ingestmessages",
  "logevents",
  "logincrements",
  "totals",
  "aggregate",
  "merge",
  "exchange",
  "sweep",
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];
