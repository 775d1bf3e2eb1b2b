/** Mistakes in exchanging totals between regions. */
import type { mergeRegisters } from "../../../core/src/regions.ts";
import type { CounterState } from "../../../functions/src/counterDocument.ts";
import type { exchangeCounter, runExchange } from "../../../functions/src/regions/exchange.ts";
import type { globalFields } from "../../../functions/src/regions/registers.ts";
import { editingCommits, withoutPreconditions } from "../batchEdits.ts";
import type { Mutation } from "./seams.ts";

type Write = (state: CounterState, ...rest: unknown[]) => Promise<void>;

const inRegions = { world: "regions", breaks: ["I14"] } as const;

export const regionMutations: Record<string, Mutation> = {
  "an exchange without the precondition": {
    ...inRegions,
    module: "functions/src/regions/totals.ts",
    declaration: "write",
    mistake:
      (real: Write): Write =>
      (state, ...rest) =>
        real({ ...state, ref: editingCommits(state.ref, withoutPreconditions) }, ...rest),
  },
  "an older register replaces a later one": {
    ...inRegions,
    module: "core/src/regions.ts",
    declaration: "mergeRegisters",
    mistake: (): typeof mergeRegisters => (known, received) => ({ ...known, ...received }),
  },
  "nothing follows a publish that its exchange has missed": {
    ...inRegions,
    module: "functions/src/regions/schedule.ts",
    declaration: "missedExchangeAt",
    mistake: () => () => undefined,
  },
  "nothing follows a merge of visitors that its exchange has missed": {
    ...inRegions,
    module: "functions/src/merge.ts",
    declaration: "scheduleMissedExchange",
    mistake: () => async () => {},
  },
  "a merge of visitors schedules no exchange": {
    ...inRegions,
    module: "functions/src/merge.ts",
    declaration: "isExchangedBy",
    mistake: () => () => false,
  },
  "a region's visitors replace those of the others": {
    ...inRegions,
    module: "functions/src/regions/visitors.ts",
    declaration: "isOfVisitors",
    mistake:
      () =>
      ({ id }: { readonly id: string }) =>
        id === "uniques",
  },
  "a region that has left no longer counts": {
    ...inRegions,
    module: "functions/src/regions/registers.ts",
    declaration: "globalFields",
    mistake:
      (real: typeof globalFields): typeof globalFields =>
      (region, own, others, regions) => {
        const members = [regions.own, ...regions.others.map(({ name }) => name)];
        const known = Object.entries(others).filter(([name]) => members.includes(name));
        return real(region, own, Object.fromEntries(known), regions);
      },
  },
  "a counter without writes is not brought to a region that joins": {
    ...inRegions,
    module: "functions/src/regions/exchange.ts",
    declaration: "exchangeCounter",
    mistake: (): typeof exchangeCounter => async () => [],
  },
  "a region that cannot be reached is not tried again": {
    ...inRegions,
    module: "functions/src/regions/exchange.ts",
    declaration: "runExchange",
    mistake:
      (real: typeof runExchange): typeof runExchange =>
      (backend, task) =>
        real({ ...backend, schedule: async () => {} }, task),
  },
};
