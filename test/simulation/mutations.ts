/** Mistakes that the simulation must find, and the invariants that they violate. mutations/mutation.ts says what they may change. */
import { adoptedMutations } from "./mutations/adopted.ts";
import { bridgeMutations } from "./mutations/bridge.ts";
import { directMutations } from "./mutations/direct.ts";
import { incrementMutations } from "./mutations/increments.ts";
import { mergeMutations } from "./mutations/merges.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { publishMutations } from "./mutations/publish.ts";
import { regionMutations } from "./mutations/regions.ts";
import { stockMutations } from "./mutations/stock.ts";
import { sumMutations } from "./mutations/sums.ts";
import { userMutations } from "./mutations/users.ts";
import { wakeUpMutations } from "./mutations/wakeUps.ts";
import { windowMutations } from "./mutations/windows.ts";

export const mutations: Record<string, Mutation> = {
  ...publishMutations,
  ...wakeUpMutations,
  ...sumMutations,
  ...incrementMutations,
  ...directMutations,
  ...bridgeMutations,
  ...mergeMutations,
  ...regionMutations,
  ...stockMutations,
  ...windowMutations,
  ...adoptedMutations,
  ...userMutations,
};
