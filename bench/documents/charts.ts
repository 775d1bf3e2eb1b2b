/** Which charts there are, from which results. */
import { PRICES } from "../../costs/src/index.ts";
import type { Chart } from "./chart.ts";
import { acknowledgement, dollars } from "./dots.ts";
import { crowd, day, viral } from "./lines.ts";
import type { Recorded, Simulated } from "./results.ts";

/** Their names, whether or not there is anything to draw. */
export const CHARTS = ["viral", "slow", "acknowledgement", "dollars", "crowd", "day"] as const;

/** @param slow  recorded in slow motion */
export function charts({ trials }: Recorded, slow: Recorded, runs: readonly Simulated[]): Chart[] {
  const of = (trace: string) => runs.find((run) => run.trace === trace);
  const [rush, oneDay] = [of("flash crowd 1,000/s"), of("day")];
  return [
    viral("viral", trials, "1 to 100/s"),
    viral("slow", slow.trials, "1 to 1000/s"),
    acknowledgement(trials),
    dollars(trials, PRICES.nam5.write * 1e6),
    rush && crowd(rush),
    oneDay && day(oneDay),
  ].filter((chart) => chart !== undefined);
}
