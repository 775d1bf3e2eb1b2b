/**
 * The decision of the functions, which a mutation may change. bundle.ts gives this module to all that import the real one, and
 * takes the path of the real one from here.
 */
import { decide as decideAsIs } from "../../functions/src/counter/decide.ts";
import { planted } from "./mutations/mutation.ts";

export * from "../../functions/src/counter/decide.ts";

export type Decide = typeof decideAsIs;
export type Step = ReturnType<Decide>;

export const decide: Decide = (...args) => (planted.decide ? planted.decide(decideAsIs, ...args) : decideAsIs(...args));
