/** The fields of a counter document that regions add. */
import type { Timestamp } from "firebase-admin/firestore";
import {
  type GlobalCounterFields,
  type RegionTotal,
  type RegionTotals,
  sumRegisters,
} from "../../../../core/src/index.ts";
import { fieldIf, finite, millis, toTimestamp } from "../../counter/fields.ts";
import type { Millis } from "../../counter/time.ts";
import type { Published } from "../../counter/types.ts";
import { parseWindows, serializeWindows } from "../windows/windows.ts";
import type { Regions } from "./parseRegions.ts";

type Publish = Pick<Published, "total" | "asOf" | "windows">;

/** What a region has published: the part of a publish that other regions get. */
export function registerOf({ total, asOf, windows = null }: Publish): RegionTotal<Millis> {
  return { total, asOf, windows };
}

/** Parses the field `regions`. What is damaged is left out, and arrives again with the next exchange. */
export function parseRegisters(value: unknown): RegionTotals<Millis> {
  const stored = Object.entries((value ?? {}) as Record<string, Partial<RegionTotal<Timestamp>> | null>);
  const registers = stored.flatMap(([region, register]): [string, RegionTotal<Millis>][] => {
    const asOf = millis(register?.asOf);
    if (asOf === null) return [];
    return [[region, { total: finite(register?.total), asOf, windows: parseWindows(register?.windows) }]];
  });
  return Object.fromEntries(registers);
}

/** Parses the field `unreachable`. */
export function parseUnreachable(value: unknown): Readonly<Record<string, Millis>> {
  const stored = Object.entries((value ?? {}) as Record<string, unknown>);
  const parsed = stored.map(([region, since]) => [region, millis(since)] as const);
  return Object.fromEntries(parsed.filter((entry): entry is [string, Millis] => entry[1] !== null));
}

/**
 * The fields for the document of one region.
 *
 * @param region  its name
 * @param own     what this region has published itself, if anything
 * @param others  the registers of other regions that it has
 * @param isStored  whether there is a document
 */
export function globalFields(
  region: string,
  own: Publish | undefined,
  others: RegionTotals<Millis>,
  regions: Regions,
  isStored: boolean,
): Omit<GlobalCounterFields<Timestamp>, "globalWindows"> {
  const { globalTotal, globalWindows } = sumRegisters(own ? { ...others, [region]: registerOf(own) } : others);
  const names = [regions.own, ...regions.others.map(({ name }) => name), ...Object.keys(others)];
  const serialized = [...new Set(names)]
    .filter((name) => name !== region)
    .map((name) => [name, serializeRegister(others[name])] as const);
  return {
    globalTotal,
    ...fieldIf("globalWindows", globalWindows && serializeWindows(globalWindows), isStored),
    regions: Object.fromEntries(serialized),
  };
}

function serializeRegister(register: RegionTotal<Millis> | undefined): RegionTotal<Timestamp> | null {
  if (!register) return null;
  const { total, asOf, windows } = register;
  return { total, asOf: toTimestamp(asOf), windows: windows && serializeWindows(windows) };
}
