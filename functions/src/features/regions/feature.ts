/** Several regions: a publish schedules the exchange that brings it to the others, and has the sum of what is known of all. */
import type { RegionTotals } from "../../../../core/src/index.ts";
import { millis, toTimestamp } from "../../counter/fields.ts";
import type { Millis } from "../../counter/time.ts";
import type { Feature } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { windowsField } from "../windows/fields.ts";
import { globalFields, parseRegisters, parseUnreachable } from "./registers.ts";
import { regionsPlan } from "./schedule.ts";

declare module "../../counter/types.ts" {
  interface CounterState {
    /** What other regions have counted. */
    readonly regions: RegionTotals<Millis>;
    /** Since when other regions could not be reached. */
    readonly unreachable: Readonly<Record<string, Millis>>;
  }
}

export const regions: Feature = {
  ...regionsPlan,
  parse: (document) => ({ exchangeAt: millis(document.get("exchangeAt")) ?? undefined }),
  parseState: (document) => ({
    regions: parseRegisters(document.get("regions")),
    unreachable: parseUnreachable(document.get("unreachable")),
  }),
  contribute(state, next, { regions: all }: Config) {
    const exchangeAt = next.exchangeAt !== undefined && { exchangeAt: toTimestamp(next.exchangeAt) };
    const isStored = state.updateTime !== undefined;
    return { fields: { ...exchangeAt, ...(all && globalFields(all.own, next, state.regions, all, isStored)) } };
  },
};

/** What an exchange reads of a counter. */
export const EXCHANGED: readonly Feature[] = [windowsField, regions];
