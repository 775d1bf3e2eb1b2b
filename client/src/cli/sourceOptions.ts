/** A source of truth, as it is typed: `--from posts --where "state == public" --sum score`, and the like. */
import { type Filter, type FilterOperator, groupOf, type Source, validSource } from "../../../core/src/index.ts";
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
    throw new Stop(WRONG_USAGE, `--where "${text}" is no comparison; write --where "state == public"`);
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
 * The source of one counter: `{id}` stands for its id, `{key}` for what follows the group.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function sourceFor(template: Source, id: string): Source {
  const group = groupOf(id);
  const key = id.includes(":") ? id.slice(group.length + 1) : id;
  const fill = (value: unknown): unknown =>
    typeof value === "string" ? value.replaceAll("{id}", id).replaceAll("{key}", key) : value;
  const { collection, where } = template as Extract<Source, { collection: string }>;
  return validSource({
    ...template,
    ...(collection !== undefined && { collection: fill(collection) }),
    ...(where && { where: where.map((filter) => ({ ...filter, value: fill(filter.value) })) }),
  });
}
