/** Parameters that choose groups of counters for a feature. A group is the part of a counter's id before its first colon. */
import { groupOf } from "../../../core/src/index.ts";
import { invalidParameter, listItems, type Parameter } from "./parameters.ts";

/** What parameters that choose groups have in common. */
export const GROUPS = {
  default: "",
  pattern: "^(\\*|[\\w.~-]+( *, *[\\w.~-]+)*)?$",
  invalid: "Enter names of groups with commas between them, *, or nothing.",
} as const satisfies Partial<Parameter>;

/** All counters, also those without a group; or those of some groups. */
export type Groups = "all" | readonly string[];

/**
 * Parses a list such as `likes, views`, or `*`.
 *
 * @param parameter  named by the error
 * @throws CounterError `counter/invalid-config`
 */
export function parseGroups(list: string, parameter: string): Groups {
  const items = listItems(list);
  if (items.length === 1 && items[0] === "*") return "all";
  const wrong = items.find((item) => !isGroup(item));
  if (wrong !== undefined)
    throw invalidParameter(parameter, wrong, "groups such as likes, separated by commas, or * for all counters");
  return items;
}

/** Whether a text can name a group in a parameter or an option. */
export function isGroup(name: string): boolean {
  return /^[\w.~-]+$/.test(name);
}

/** @param counterId  `undefined` for a counter that stands for all */
export function isIn(groups: Groups, counterId = ""): boolean {
  return groups === "all" || groups.includes(groupOf(counterId));
}

/** Whether any counter may be in one. */
export function areAny(groups: Groups): boolean {
  return groups === "all" || groups.length > 0;
}
