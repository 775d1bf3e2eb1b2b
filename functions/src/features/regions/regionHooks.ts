/** The hooks of regions: how they join a publish. */
import type { RegionTotals } from "../../../../core/src/index.ts";
import { millis, toTimestamp } from "../../counter/fields.ts";
import type { Millis } from "../../counter/time.ts";
import type { PublishHooks } from "../../counter/types.ts";
import { windows } from "../windows/windows.ts";
import { regionsPlan } from "./regionsPlan.ts";
import { globalFields, parseRegisters, parseUnreachable } from "./registers.ts";

declare module "../../counter/types.ts" {
  interface FeatureStates {
    readonly regions: RegionState;
  }
}

export interface RegionState {
  /** What other regions have counted. */
  readonly totals: RegionTotals<Millis>;
  /** Since when other regions could not be reached. */
  readonly unreachable: Readonly<Record<string, Millis>>;
}

export const NO_REGIONS: RegionState = { totals: {}, unreachable: {} };

export const regionHooks = {
  ...regionsPlan,
  parse: (document) => ({ exchangeAt: millis(document.get("exchangeAt")) ?? undefined }),
  parseState: (document) => ({
    totals: parseRegisters(document.get("regions")),
    unreachable: parseUnreachable(document.get("unreachable")),
  }),
  contribute({ regions: { totals } = NO_REGIONS, updateTime }, next, { regions: all }) {
    const due = next.regions?.exchangeAt;
    const exchangeAt = due !== undefined && { exchangeAt: toTimestamp(due) };
    return {
      fields: { ...exchangeAt, ...(all && globalFields(all.own, next, totals, all, updateTime !== undefined)) },
    };
  },
} satisfies PublishHooks<"regions">;

/** What an exchange reads of a counter. */
export const EXCHANGED: readonly PublishHooks[] = [windows, regionHooks];
