import { FEATURES } from "../features/features.ts";
import type { Feature } from "../shared/feature.ts";
import { counter } from "./counter.ts";

/** The counter and its features, in the order of their parameters. */
export const ALL_FEATURES: readonly Feature[] = [counter, ...FEATURES];
