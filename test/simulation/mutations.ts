/**
 * Mistakes planted in the code under test, and the invariants that they violate. The simulation must find each of them. A
 * mutation takes the real function or constant, and returns the faulty one.
 */

import { backendMutations } from "./mutations/backend.ts";
import { bridgeMutations } from "./mutations/bridge.ts";
import { regionMutations } from "./mutations/regions.ts";
import type { Mutation } from "./mutations/seams.ts";
import { stockMutations } from "./mutations/stock.ts";
import { topKeysMutations } from "./mutations/topKeys.ts";
import { visitorMutations } from "./mutations/visitors.ts";
import { windowMutations } from "./mutations/windows.ts";
import { writerMutations } from "./mutations/writers.ts";

export type { Mutation };

export const mutations: Record<string, Mutation> = {
  ...backendMutations,
  ...bridgeMutations,
  ...regionMutations,
  ...stockMutations,
  ...topKeysMutations,
  ...visitorMutations,
  ...windowMutations,
  ...writerMutations,
};
