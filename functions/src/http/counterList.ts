/** Lists of counters among the parameters: those that the functions with HTTP serve to anyone on the internet. */
import { groupOf, isDocumentId } from "../../../core/src/index.ts";
import { invalidParameter, listItems } from "../deploy/parameterValue.ts";

/** Counters, each named by its id, or all of a group: `views:*`. */
export interface CounterList {
  readonly ids: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
}

export const NO_COUNTERS: CounterList = { ids: new Set(), groups: new Set() };

/**
 * Parses a list such as `signups, views:*`.
 *
 * @param parameter  named by the error
 * @throws CounterError `counter/invalid-config`
 */
export function parseCounterList(list: string, parameter: string): CounterList {
  const ids = new Set<string>();
  const groups = new Set<string>();
  for (const item of listItems(list)) {
    const [, group] = /^([^:*]+):\*$/.exec(item) ?? [];
    if (group !== undefined) groups.add(group);
    else if (isDocumentId(item) && !item.includes("*")) ids.add(item);
    else throw invalidParameter(parameter, item, 'ids of counters, or groups such as "views:*", separated by commas');
  }
  return { ids, groups };
}

/** Whether a list names a counter. */
export function isListed({ ids, groups }: CounterList, counterId: string): boolean {
  return ids.has(counterId) || (counterId.includes(":") && groups.has(groupOf(counterId)));
}

/** Whether a list is empty, so that the function it is for is off. */
export function isEmptyList({ ids, groups }: CounterList): boolean {
  return ids.size + groups.size === 0;
}
