/** Parses a source of truth from options: `--from posts --where "state == public" --sum score`. */
import {
  type CounterSource,
  type CounterSourceFilter,
  type CounterSourceOperator,
  type CounterSourceSelection,
  groupOf,
  validSource,
} from "../../core/src/index.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { escapeControls } from "./escape.ts";

export interface SourceOptions {
  readonly entries?: boolean;
  /** Path of a collection. */
  readonly from?: string;
  /** Name of a collection group. */
  readonly fromGroup?: string;
  readonly where?: readonly string[];
  readonly sum?: string;
}

/** @returns `undefined` if no source is named, for each counter's stored one. @throws CommandError for contradictions */
export function parseSource({ entries, from, fromGroup, where, sum }: SourceOptions): CounterSource | undefined {
  const kinds = [entries, from, fromGroup].filter((kind) => kind !== undefined).length;
  const selects = where !== undefined || sum !== undefined;
  if (kinds > 1) throw new CommandError(WRONG_USAGE, "name only one source: --entries, --from or --from-group");
  if (selects && (kinds === 0 || entries)) {
    throw new CommandError(
      WRONG_USAGE,
      "--where and --sum select documents of a collection; add --from or --from-group",
    );
  }
  const selection = { ...(where && { where: where.map(parseFilter) }), ...(sum !== undefined && { sum }) };
  if (entries) return { entries: true };
  if (from !== undefined) return { collection: from, ...selection };
  if (fromGroup !== undefined) return { collectionGroup: fromGroup, ...selection };
  return undefined;
}

/** `state == public`, `score >= 10`, `state in ["public", "shared"]`: a value is JSON, or else plain text. */
export function parseFilter(text: string): CounterSourceFilter {
  const [, field, op, value] =
    /^\s*(\S+)\s+(==|!=|<=|>=|<|>|in|not-in|array-contains(?:-any)?)\s+(.+?)\s*$/.exec(text) ?? [];
  if (field === undefined || op === undefined || value === undefined) {
    throw new CommandError(
      WRONG_USAGE,
      `--where "${escapeControls(text)}" is not a comparison; write it like --where "state == public"`,
    );
  }
  return { field, op: op as CounterSourceOperator, value: parseValue(value) };
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * The source of one counter: `{id}` becomes its id, `{name}` the part of the id after the group. Placeholders are allowed in
 * the path and in values only; in the name of a field or collection group they would select nothing, and reset the total.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function sourceForCounter(template: CounterSource, id: string): CounterSource {
  const { collection, collectionGroup, where, sum } = template as Partial<Record<string, unknown>> &
    CounterSourceSelection;
  for (const name of [collectionGroup, sum, ...(where ?? []).map(({ field }) => field)]) {
    if (typeof name === "string" && /[{}]/.test(name)) {
      throw new CommandError(
        WRONG_USAGE,
        `{id} and {name} are allowed in the path of --from and the values of --where only, not in "${escapeControls(name)}"`,
      );
    }
  }
  const group = groupOf(id);
  const placeholders = { id, name: id.includes(":") ? id.slice(group.length + 1) : id };
  return validSource({
    ...template,
    ...(collection !== undefined && { collection: fillIn(collection, placeholders) }),
    ...(where && { where: where.map((filter) => ({ ...filter, value: fillIn(filter.value, placeholders) })) }),
  });
}

/** One pass with a replacer function: a name may contain `{id}`, or `$&`, which is a pattern in a replacement string. */
function fillIn(value: unknown, placeholders: { readonly id: string; readonly name: string }): unknown {
  if (typeof value === "string") return value.replace(/\{(id|name)\}/g, (_, name: "id" | "name") => placeholders[name]);
  if (Array.isArray(value)) return value.map((one) => fillIn(one, placeholders));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillIn(one, placeholders)]));
}
