/** The configuration of a deployment that keeps every default. */
import type { Config } from "../features/config.ts";
import { FEATURE_PLANS } from "../features/plans.ts";
import { DEFAULT_SETTINGS } from "./config.ts";

export const DEFAULT_CONFIG: Config = { ...DEFAULT_SETTINGS, plans: FEATURE_PLANS };
