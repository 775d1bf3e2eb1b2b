/** Lists of counters among the parameters: those that the functions with HTTP serve to anyone on the internet. */
import { groupOf, isDocumentId } from "../../../core/src/index.ts";
import { invalidParameter, listItems } from "./parameters.ts";

/** Counters: each named by its id; those of a group (`views:*`); and those whose ids match an expression (`/views:[a-z]{1,40}/`). */
export interface CounterList {
  readonly ids: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly patterns: readonly RegExp[];
}

/** Commas that no slash encloses. Ids have no slash. */
const SEPARATORS = /,(?=[^/]*(?:\/[^/]*\/[^/]*)*$)/;

/**
 * Parses a list such as `signups, views:*, /votes:[a-z]{1,40}/`.
 *
 * @param parameter  named by the error
 * @throws CounterError `counter/invalid-config`
 */
export function parseCounterList(list: string, parameter: string): CounterList {
  const ids = new Set<string>();
  const groups = new Set<string>();
  const patterns: RegExp[] = [];
  for (const item of listItems(list, SEPARATORS)) {
    const [, group] = /^([^:*/]+):\*$/.exec(item) ?? [];
    const pattern = parsePattern(item);
    if (pattern) patterns.push(pattern);
    else if (group !== undefined) groups.add(group);
    else if (isDocumentId(item) && !item.includes("*")) ids.add(item);
    else {
      const accepted =
        'ids of counters, groups such as "views:*", or expressions such as "/views:[a-z0-9-]{1,40}/", separated by commas';
      throw invalidParameter(parameter, item, accepted);
    }
  }
  return { ids, groups, patterns };
}

/** An expression matches whole ids. */
function parsePattern(item: string): RegExp | undefined {
  const [, source] = /^\/([^/]+)\/$/.exec(item) ?? [];
  try {
    // Alone first: `a)(b` is no expression.
    return source === undefined ? undefined : new RegExp(`^(?:${new RegExp(source, "u").source})$`, "u");
  } catch {
    return undefined;
  }
}

/** What admits a counter. */
export type Admission = "id" | "pattern" | "group";

/** What in a list admits a counter; `undefined` for one that is not listed. */
export function admissionOf({ ids, groups, patterns }: CounterList, counterId: string): Admission | undefined {
  if (ids.has(counterId)) return "id";
  if (patterns.some((pattern) => pattern.test(counterId))) return "pattern";
  return counterId.includes(":") && groups.has(groupOf(counterId)) ? "group" : undefined;
}

/** Whether a list has a counter. */
export function isListed(list: CounterList, counterId: string): boolean {
  return admissionOf(list, counterId) !== undefined;
}

/** Whether a list is empty, so that the function it is for is off. */
export function isEmptyList({ ids, groups, patterns }: CounterList): boolean {
  return ids.size + groups.size + patterns.length === 0;
}

/** The groups of the counters of a list, `""` among them for ids without a colon. `"all"` if an expression does not begin with its group. */
export function groupsOfList({ ids, groups, patterns }: CounterList): readonly string[] | "all" {
  const ofPatterns = patterns.map(groupOfPattern);
  if (ofPatterns.includes(undefined)) return "all";
  return [...[...ids].map(groupOf), ...groups, ...(ofPatterns as string[])];
}

function groupOfPattern({ source }: RegExp): string | undefined {
  const [, group] = /^\^\(\?:([\w-]+):(?![?*{])/.exec(source) ?? [];
  // Alternatives outside of parentheses may have other groups.
  let outside = source.slice(4, -2).replace(/\\.|\[[^\]]*\]/g, "");
  while (/\([^()]*\)/.test(outside)) outside = outside.replace(/\([^()]*\)/g, "");
  return outside.includes("|") ? undefined : group;
}
