/** All parts of a deployment: the counter, and its features. */
import { FEATURES } from "../features/features.ts";
import type { Feature } from "../shared/feature.ts";
import { counter } from "./counter.ts";

export const PARTS: readonly Feature[] = [counter, ...FEATURES];
