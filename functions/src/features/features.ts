/** The features that join a publish, in the order in which they do. */
import type { Feature } from "../counter/types.ts";
import { history } from "./history/feature.ts";
import { mirrors } from "./mirrors/feature.ts";
import { regions } from "./regions/feature.ts";
import { stock } from "./stock/feature.ts";
import { windows } from "./windows/feature.ts";

export const FEATURES: readonly Feature[] = [windows, mirrors, history, regions, stock as Feature];
