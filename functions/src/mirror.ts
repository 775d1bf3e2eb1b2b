/**
 * Mirrors: fields of the app's own documents to which totals are also written. `likes=posts/{key}.likes` writes the total of
 * `likes:42` to the field `likes` of `posts/42`.
 */
import { CounterError, groupOf, isDocumentId } from "../../core/src/index.ts";

/** One entry of `MIRRORS`. */
export interface Mirror {
  /** The group of the counters; without `{key}` in the path, the id of the one counter. */
  readonly counters: string;
  /** The path of the documents, segment by segment, with `{key}` for the part of the id after its first colon. */
  readonly document: readonly string[];
  /** The path of the field. */
  readonly field: readonly string[];
}

/** The field to which one counter's total is written. */
export interface MirrorTarget {
  readonly document: string;
  readonly field: readonly string[];
}

const KEY = "{key}";

/**
 * Parses the parameter `MIRRORS`: entries `group=path/{key}.field`, with commas between them.
 * @throws CounterError `counter/invalid-config`, naming the entry and the mistake
 */
export function parseMirrors(parameter: string): readonly Mirror[] {
  if (parameter.trim() === "") return [];
  const mirrors = parameter.split(",").map((entry) => parseMirror(entry.trim()));
  mirrors.forEach((mirror, index) => {
    const same = mirrors.findIndex((other) => mirror.counters === other.counters && hasKey(mirror) === hasKey(other));
    if (same < index) throw invalid(mirror.counters, "has two entries; a counter has one mirror");
    const other = mirrors.slice(0, index).find((earlier) => overlap(earlier, mirror));
    if (other)
      throw invalid(mirror.counters, `shares its field with ${other.counters}; give each counter a field of its own`);
  });
  return mirrors;
}

/** Whether two mirrors may write to the same field, or one to a field within the other's. */
function overlap(one: Mirror, other: Mirror): boolean {
  const meets = (segment: string, index: number) => {
    const opposite = other.document[index] ?? "";
    return segment === opposite || segment.includes(KEY) || opposite.includes(KEY);
  };
  const isWithin = one.field.every((name, i) => i >= other.field.length || name === other.field[i]);
  return one.document.length === other.document.length && one.document.every(meets) && isWithin;
}

function parseMirror(entry: string): Mirror {
  // The field starts at the first dot of the path's last segment.
  const [, counters = "", path = "", fields = ""] = /^([^=]*)=((?:[^/]*\/)*[^/.]*)\.([^/]*)$/.exec(entry) ?? [];
  const document = path.split("/");
  const field = fields.split(".");
  if (!isDocumentId(counters) || counters.includes(":") || /\s/.test(path + fields)) {
    throw invalid(entry, "write group=path/{key}.field, such as likes=posts/{key}.likes");
  }
  if (document.length % 2 !== 0 || !document.every((segment) => isDocumentId(filled(segment, "key")))) {
    throw invalid(entry, "name the path of a document, such as posts/{key}");
  }
  if (document[0]?.includes(KEY)) throw invalid(entry, "leave {key} out of the first segment");
  if (!field.every((name) => isDocumentId(name) && !/[{}]/.test(name))) {
    throw invalid(entry, "name a field, such as likes or stats.likes");
  }
  return { counters, document, field };
}

function invalid(entry: string, advice: string): CounterError {
  return new CounterError("counter/invalid-config", `MIRRORS: ${JSON.stringify(entry)}: ${advice}`);
}

/** @returns `undefined` for a counter that has no mirror, or whose key can name no document: `""`, `"."`, `".."` */
export function mirrorOf(counterId: string, mirrors: readonly Mirror[]): MirrorTarget | undefined {
  const colon = counterId.indexOf(":");
  const counters = colon < 0 ? counterId : groupOf(counterId);
  const mirror = mirrors.find((one) => one.counters === counters && hasKey(one) === colon >= 0);
  const ids = mirror?.document.map((segment) => filled(segment, counterId.slice(colon + 1)));
  return mirror && ids?.every(isDocumentId) ? { document: ids.join("/"), field: mirror.field } : undefined;
}

function hasKey({ document }: Mirror): boolean {
  return document.some((segment) => segment.includes(KEY));
}

function filled(segment: string, key: string): string {
  return segment.replaceAll(KEY, () => key);
}
