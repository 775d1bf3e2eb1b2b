/**
 * The parts of a rules file that can be compared: functions by name, and what each match allows by its path.
 *
 * A user's file holds Tally's rules among others, so files as a whole never agree. Comments and white space do not count,
 * nor does the order of the parts.
 */
import { type Allow, type Declaration, parseDeclarations } from "../rulesSyntax/declarations.ts";
import { lineAt } from "../rulesSyntax/tokens.ts";

export interface RulesParts {
  /** The bodies of the functions of each name; a name may be declared in several matches. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
  readonly matches: readonly Match[];
}

export interface Match {
  /** Below the documents of the database, with its wildcards: `/counters/{counter}/shards/{shard}`. */
  readonly path: string;
  readonly line: number;
  readonly allows: readonly Allow[];
}

/** What comes before the path below the documents. A wildcard for any number of segments may stand for all that. */
const DATABASE_PATH =
  /^(\/databases\/(\{\w+\}|\(default\))\/documents|(\/databases(\/(\{\w+\}|\(default\)))?)?(?=\/\{\w+=\*\*\}$))/;

export function parseRules(source: string): RulesParts {
  const functions = new Map<string, string[]>();
  const matches: Match[] = [];
  const visit = ({ kind, name, code, start, allows, children }: Declaration, around: string) => {
    const path = kind === "match" ? around + name : around;
    if (kind === "function") functions.set(name, [...(functions.get(name) ?? []), withDatabase(code, path)]);
    if (kind === "match" && DATABASE_PATH.test(path)) {
      const below = path.replace(DATABASE_PATH, "");
      if (below !== "") matches.push({ path: below, line: lineAt(source, start), allows });
    }
    for (const child of children) visit(child, path);
  };
  for (const declaration of parseDeclarations(source).declarations) {
    if (declaration.kind !== "service" || declaration.name === "cloud.firestore") visit(declaration, "");
  }
  return { functions, matches };
}

/** A function's code with the name that Tally's rules have for the database, which each app names as it likes. */
function withDatabase(code: string, path: string): string {
  const [, name] = /^\/databases\/\{(\w+)\}/.exec(path) ?? [];
  return code.replaceAll(`/databases/$(${name})/`, () => "/databases/$(database)/");
}
