/** The features. */
import type { Feature } from "../shared/feature.ts";
import { adopted } from "./adopted/adopted.ts";
import { bridge } from "./bridge/bridge.ts";
import { collections } from "./collections/collections.ts";
import { eventLog } from "./eventLog/eventLog.ts";
import { history } from "./history/history.ts";
import { ingest } from "./ingest/ingest.ts";
import { items } from "./items/items.ts";
import { mirrors } from "./mirrors/mirrors.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { regions } from "./regions/regions.ts";
import { stock } from "./stock/stock.ts";
import { totals } from "./totals/totals.ts";
import { visitors } from "./visitors/visitors.ts";
import { windows } from "./windows/windows.ts";

export const FEATURES: readonly Feature[] = [
  visitors,
  collections,
  mirrors,
  windows,
  history,
  regions,
  ingest,
  items,
  eventLog,
  totals,
  adopted,
  bridge,
  stock,
  reconcile,
];
