/**
 * The file of parameters, `tally/.env`. It is complete: without a terminal the Firebase CLI refuses a deployment with a parameter
 * that has no line, defaults or not.
 */
import type { Edition } from "../../../functions/src/decisions.ts";
import { DEFAULT_PARAMETERS, INSTANCE_PARAMETERS } from "../../../functions/src/deploy/parseConfig.ts";
import { PAGES } from "./packaged.ts";
import type { Project } from "./project.ts";

/** By name. */
export type Values = Readonly<Record<string, string>>;

const DEFAULTS: Values = { ...DEFAULT_PARAMETERS, ...INSTANCE_PARAMETERS };

/** The parameters that an app decides about first. */
const FIRST = ["LOCATION", "DATABASE_ID", "EDITION", "COLLECTION", "VISITORS"];

const lineOf = (name: string, values: Values) => `${name}=${values[name]}`;

/** A new file. @param chosen  values that are not the default */
export function newDotenv(chosen: Values): string {
  const values = { ...DEFAULTS, ...chosen };
  const others = Object.keys(DEFAULTS).filter((name) => !FIRST.includes(name));
  return [
    `# The parameters of Tally's functions: ${PAGES}/configuration.md`,
    ...FIRST.map((name) => lineOf(name, values)),
    "",
    "# The defaults of these are right for most apps. Each needs a line.",
    ...others.map((name) => lineOf(name, values)),
    "",
  ].join("\n");
}

/** The edition of the database, as the functions' parameters say. */
export function editionIn({ places, read }: Pick<Project, "places" | "read">): Edition {
  const env = places.codebase === undefined ? undefined : read(`${places.codebase}/.env`);
  return /^EDITION=enterprise\s*$/m.test(env ?? "") ? "enterprise" : "standard";
}

/** Names of the parameters that a file sets. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=/gm)].map(([, name = ""]) => name);
}

/** Adds a line for each parameter that has none. @returns the text, and the parameters that are new to it */
export function completeDotenv(before: string, version: string): { text: string; added: string[]; unknown: string[] } {
  const names = namesIn(before);
  const added = Object.keys(DEFAULTS).filter((name) => !names.includes(name));
  const unknown = names.filter((name) => !Object.hasOwn(DEFAULTS, name));
  if (added.length === 0) return { text: before, added, unknown };
  const lines = ["", `# New in ${version}.`, ...added.map((name) => lineOf(name, DEFAULTS)), ""];
  return { text: `${before.trimEnd()}\n${lines.join("\n")}`, added, unknown };
}
