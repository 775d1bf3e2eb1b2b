/** The configuration of a deployment that keeps every default. */
import type { CounterConfig } from "../counter/types.ts";
import { FEATURE_PLANS } from "../features/plans.ts";
import { DEFAULT_SETTINGS } from "./parameters.ts";

export const DEFAULT_CONFIG: CounterConfig = { ...DEFAULT_SETTINGS, plans: FEATURE_PLANS };
