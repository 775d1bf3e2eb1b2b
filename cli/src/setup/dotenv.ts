/**
 * The file of parameters, `.env`. It has a line for each parameter, also for those with a default: without one, the Firebase CLI refuses a
 * deployment that has no terminal.
 */
import { COUNTING_DEFAULTS, INSTANCE_DEFAULTS } from "../../../functions/src/deploy/parameters.ts";
import { PAGES } from "./packaged.ts";

/** Values by the name of their parameter. */
export type Values = Readonly<Record<string, string>>;

const DEFAULTS: Values = { ...COUNTING_DEFAULTS, ...INSTANCE_DEFAULTS };

/** The parameters that an app decides about first. */
const FIRST = ["LOCATION", "DATABASE_ID", "EDITION", "COLLECTION", "VISITORS"];

const REMARK = "# The defaults of these are right for most apps. Each needs a line.";

const HEADING = `# The parameters of Tally's functions: ${PAGES}/configuration.md`;

/** A line as the Firebase CLI reads it: a name and a value, which may be in quotes, before a comment. */
const LINE = /^([ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*)('[^']*'|"[^"]*"|[^#\r\n]*)/gm;

/** What the parameters of new functions depend on. */
export interface FunctionsChoice {
  /** Where the functions run. */
  readonly region: string;
  readonly database: string;
  readonly edition: string;
  readonly collection: string;
  /** The groups whose visitors are counted. */
  readonly visitors: readonly string[];
}

/** The parameters of new functions that are not the default. */
export function parametersFor({ region, database, edition, collection, visitors }: FunctionsChoice): Values {
  const parameters = { LOCATION: region, DATABASE_ID: database, EDITION: edition, COLLECTION: collection };
  return visitors.length > 0 ? { ...parameters, VISITORS: "yes" } : parameters;
}

/** A new file. @param chosen  values that are not the default */
export function newDotenv(chosen: Values): string {
  const values = { ...DEFAULTS, ...chosen };
  const others = Object.keys(DEFAULTS).filter((name) => !FIRST.includes(name));
  const lineOf = (name: string) => `${name}=${values[name]}`;
  return [HEADING, ...FIRST.map(lineOf), "", REMARK, ...others.map(lineOf), ""].join("\n");
}

/** The values that a file sets. If a name is there twice, the last one counts. */
export function valuesIn(text: string): Values {
  const lines = [...text.matchAll(LINE)];
  return Object.fromEntries(
    lines.map(([, , name = "", value = ""]) => [name, value.trim().replace(/^(["'])(.*)\1$/s, "$2")]),
  );
}

export function isParameter(name: string): boolean {
  return Object.hasOwn(DEFAULTS, name);
}

/** Beside the parameters: the channel of drift events. */
const CHANNEL = "EVENTARC_CHANNEL";

/** The names that a file sets and that mean nothing to Tally. */
export function unknownIn(text: string): string[] {
  return Object.keys(valuesIn(text)).filter((name) => name !== CHANNEL && !Object.hasOwn(DEFAULTS, name));
}

/** Sets values where they differ. Comments stay. */
export function withValues(text: string, values: Values): string {
  const present = valuesIn(text);
  const edited = text.replace(LINE, (line, start: string, name: string, old: string) => {
    const value = values[name];
    if (value === undefined || value === present[name]) return line;
    return start + value + (/\s+$/.exec(old)?.[0] ?? "");
  });
  const missing = Object.entries(values).filter(([name]) => !Object.hasOwn(present, name));
  if (missing.length === 0) return edited;
  const end = edited === "" || edited.endsWith("\n") ? "" : "\n";
  return `${edited}${end}${missing.map(([name, value]) => `${name}=${value}\n`).join("")}`;
}

/**
 * Adds a line for each parameter that has none.
 *
 * @param chosen  values that are not the default
 * @returns       the text, and the parameters that are new to it
 */
export function completeDotenv(
  before: string,
  version: string,
  chosen: Values = {},
): { text: string; added: string[] } {
  const present = valuesIn(before);
  const added = Object.keys(DEFAULTS).filter((name) => !Object.hasOwn(present, name));
  if (added.length === 0) return { text: before, added };
  const lines = added.map((name) => `${name}=${chosen[name] ?? DEFAULTS[name]}`);
  return { text: `${before.trimEnd()}\n\n# New in ${version}.\n${lines.join("\n")}\n`, added };
}

/**
 * Whether a file is the beginning of one that `init` writes, or an older one has written in another order, and ends within a name. A file
 * that ends within a value cannot be told from an edit, and stays.
 */
export function isCut(text: string): boolean {
  const lines = text.split("\n");
  const last = lines.pop();
  const names = lines.map((line) => /^(\w+)=/.exec(line)?.[1] ?? line);
  const known = [...Object.keys(DEFAULTS), HEADING, REMARK];
  const left = known.filter((name) => !names.includes(name));
  const isWritten =
    names.every((name) => name === "" || known.includes(name)) && text.startsWith(lines.length > 0 ? HEADING : "");
  return text === "" || (isWritten && last !== "" && left.some((name) => `${name}=`.startsWith(last ?? "")));
}

/** A file without the line that is cut. */
export function withoutCutLine(text: string): string {
  return isCut(text) ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
}
