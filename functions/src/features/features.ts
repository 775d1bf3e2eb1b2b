/** The features that join a publish. */
import type { Feature } from "../counter/types.ts";
import { totalsPlan } from "../totals/totalsPlan.ts";
import { adopted } from "./adopted/feature.ts";
import { collections } from "./collections/feature.ts";
import { history } from "./history/feature.ts";
import { mirrors } from "./mirrors/feature.ts";
import { regions } from "./regions/feature.ts";
import { stock } from "./stock/feature.ts";
import { windowsField } from "./windows/fields.ts";
import { windowsPlan } from "./windows/windows.ts";

export const FEATURES: readonly Feature[] = [
  { ...windowsPlan, ...windowsField },
  mirrors,
  history,
  regions,
  stock,
  collections,
  adopted,
  totalsPlan,
];
