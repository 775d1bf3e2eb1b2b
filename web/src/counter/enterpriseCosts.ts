/** Apart from the other costs of the page, because it brings the decisions of the functions along: it is loaded when it is shown. */
import { ENTERPRISE_PRICES, monthlyCosts, perMillion } from "../../../costs/src/index.ts";
import { incrementsOf, type PublishLog } from "./publishLog.ts";

/**
 * What a million increments would cost on the Enterprise edition in us-central1, where a counter has other shards: estimated from the
 * rate since the page was opened. `undefined` if nothing was counted.
 */
export function enterprisePerMillion({ first, last }: PublishLog): number | undefined {
  const increments = incrementsOf({ first, last });
  if (!first || !last || increments <= 0) return undefined;
  const perSecond = (increments * 1_000) / (last.asOf - first.asOf);
  const steady = { perSecond, peakPerSecond: perSecond, peakHours: 24, counters: 1, once: 0 };
  const watching = { watchers: 0, readsPerDay: 0, perClient: 0, total: Math.max(last.total, 0) };
  return perMillion(monthlyCosts({ ...steady, ...watching }, ENTERPRISE_PRICES.regional));
}
