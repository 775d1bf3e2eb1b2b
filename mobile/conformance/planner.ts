/**
 * The three clients and where their planners are. Each client is one file, whose first part is the planner: it has no I/O and
 * compiles without the Firestore SDK. The markers tell where it begins and ends.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Language = "kotlin" | "swift" | "dart";

const MOBILE = join(import.meta.dirname, "..");

export const CLIENTS: Readonly<Record<Language, string>> = {
  kotlin: join(MOBILE, "kotlin", "Tally.kt"),
  swift: join(MOBILE, "swift", "Tally.swift"),
  dart: join(MOBILE, "dart", "tally.dart"),
};

/** The imports that the planner may use: the language's own library. */
const OWN_IMPORTS = /^(package .*|import (kotlin\.|Foundation$|'dart:(convert|math)').*)$/gm;

/** The planner of a client, as a source file that compiles alone. */
export function plannerOf(language: Language): string {
  const source = readFileSync(CLIENTS[language], "utf8");
  const [head = "", planner, sdk] = source.split(/^\/\/ --- (?:planner|Firestore) ---$/m);
  if (planner === undefined || sdk === undefined) throw new Error(`${CLIENTS[language]}: a marker is missing`);
  return `${[...head.matchAll(OWN_IMPORTS)].map(([line]) => line).join("\n")}\n${planner}`;
}
