/** A source of truth, as it is typed: `--from posts --where "state == public" --sum score`, and the like. */
import {
  type Filter,
  type FilterOperator,
  groupOf,
  type Source,
  type SourceSelection,
  validSource,
} from "../../core/src/index.ts";
import { shown } from "./screen.ts";
import { Stop, WRONG_USAGE } from "./stop.ts";

export interface SourceOptions {
  readonly entries?: boolean;
  /** Path of a collection. */
  readonly from?: string;
  /** Name of a collection group. */
  readonly fromGroup?: string;
  readonly where?: readonly string[];
  readonly sum?: string;
}

/** @returns `undefined` if none is named: then each counter's own is meant. @throws Stop if it is contradictory */
export function sourceOf({ entries, from, fromGroup, where, sum }: SourceOptions): Source | undefined {
  const kinds = [entries, from, fromGroup].filter((kind) => kind !== undefined).length;
  const selects = where !== undefined || sum !== undefined;
  if (kinds > 1) throw new Stop(WRONG_USAGE, "name one source: --entries, --from or --from-group");
  if (selects && (kinds === 0 || entries)) {
    throw new Stop(WRONG_USAGE, "--where and --sum select documents of --from or --from-group; name one of them");
  }
  const selection = { ...(where && { where: where.map(filterOf) }), ...(sum !== undefined && { sum }) };
  if (entries) return { entries: true };
  if (from !== undefined) return { collection: from, ...selection };
  if (fromGroup !== undefined) return { collectionGroup: fromGroup, ...selection };
  return undefined;
}

/** `state == public`, `score >= 10`, `state in ["public", "shared"]`: a value is JSON, or else the text itself. */
export function filterOf(text: string): Filter {
  const [, field, op, value] =
    /^\s*(\S+)\s+(==|!=|<=|>=|<|>|in|not-in|array-contains(?:-any)?)\s+(.+?)\s*$/.exec(text) ?? [];
  if (field === undefined || op === undefined || value === undefined) {
    throw new Stop(WRONG_USAGE, `--where "${shown(text)}" is no comparison; write --where "state == public"`);
  }
  return { field, op: op as FilterOperator, value: parsed(value) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * The source of one counter: `{id}` stands for its id, `{key}` for what follows the group. They are filled in in the path
 * and in values alone; left as they are in the name of a field or group, they would select nothing, and that be the truth.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function sourceFor(template: Source, id: string): Source {
  const { collection, collectionGroup, where, sum } = template as Partial<Record<string, unknown>> & SourceSelection;
  for (const name of [collectionGroup, sum, ...(where ?? []).map(({ field }) => field)]) {
    if (typeof name === "string" && /[{}]/.test(name)) {
      throw new Stop(
        WRONG_USAGE,
        `{id} and {key} are for the path of --from and the values of --where, not "${shown(name)}"`,
      );
    }
  }
  const group = groupOf(id);
  const stands = { id, key: id.includes(":") ? id.slice(group.length + 1) : id };
  return validSource({
    ...template,
    ...(collection !== undefined && { collection: filled(collection, stands) }),
    ...(where && { where: where.map((filter) => ({ ...filter, value: filled(filter.value, stands) })) }),
  });
}

/** In one pass and by a function, since a key may hold `{id}`, and `$&`, which `replace` would read as a pattern. */
function filled(value: unknown, stands: { readonly id: string; readonly key: string }): unknown {
  if (typeof value === "string") return value.replace(/\{(id|key)\}/g, (_, name: "id" | "key") => stands[name]);
  if (Array.isArray(value)) return value.map((one) => filled(one, stands));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, stands)]));
}
