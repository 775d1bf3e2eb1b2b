/** The fields of a counter document that regions add. */
import type { Timestamp } from "firebase-admin/firestore";
import { type GlobalCount, type Register, type Registers, sumRegisters } from "../../../core/src/index.ts";
import { finite, millis, parseWindows, serializeWindows, toTimestamp } from "../fields.ts";
import type { Millis } from "../time.ts";
import type { Regions } from "./config.ts";

/** What a region has published: the part of a publish that other regions get. */
export function registerOf({ total, asOf, windows }: Register<Millis>): Register<Millis> {
  return { total, asOf, windows };
}

/** Parses the field `regions`. What is damaged is left out, and arrives again with the next exchange. */
export function parseRegisters(value: unknown): Registers<Millis> {
  const stored = Object.entries((value ?? {}) as Record<string, Partial<Register<Timestamp>> | null>);
  const registers = stored.flatMap(([region, register]): [string, Register<Millis>][] => {
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
 */
export function globalFields(
  region: string,
  own: Register<Millis> | undefined,
  others: Registers<Millis>,
  regions: Regions,
): GlobalCount<Timestamp> {
  const { globalTotal, globalWindows } = sumRegisters(own ? { ...others, [region]: registerOf(own) } : others);
  const names = [regions.own, ...regions.others.map(({ name }) => name), ...Object.keys(others)];
  const serialized = [...new Set(names)]
    .filter((name) => name !== region)
    .map((name) => [name, serializeRegister(others[name])] as const);
  return {
    globalTotal,
    globalWindows: globalWindows && serializeWindows(globalWindows),
    regions: Object.fromEntries(serialized),
  };
}

function serializeRegister(register: Register<Millis> | undefined): Register<Timestamp> | null {
  if (!register) return null;
  const { total, asOf, windows } = register;
  return { total, asOf: toTimestamp(asOf), windows: windows && serializeWindows(windows) };
}
