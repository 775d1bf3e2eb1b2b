/**
 * Mirrors: fields of the app's own documents that show the totals of counters. `likes=posts/{name}.likes` pairs the counter
 * `likes:42` with the field `likes` of `posts/42`. An entry pairs each counter with one field at most, and each field with
 * one counter, so the pairs can be looked up from both sides.
 */
import { CounterError } from "./errors.ts";
import { isDocumentId } from "./validation.ts";

/** One entry of the parameters `MIRRORS` and `BRIDGE`. */
export interface Mirror {
  /** The ids of the counters, such as `likes:{name}`; without variables the id of the one counter. */
  readonly counters: string;
  /** The path of the documents, such as `posts/{name}`, with the same variables. */
  readonly document: string;
  /** The path of the field. */
  readonly field: readonly string[];
  /**
   * Whether others add to the field, too: old apps, by way of Google's counter. A publish then adds the difference
   * to the field, instead of setting it.
   */
  readonly isBridged: boolean;
}

/** The field that shows one counter. */
export interface MirrorTarget {
  readonly document: string;
  readonly field: readonly string[];
  readonly isBridged: boolean;
}

/** A field of a document, as `mirroredIn` of a counter document names it. */
export function mirrorName({ document, field }: Pick<MirrorTarget, "document" | "field">): string {
  return `${document} ${field.join(".")}`;
}

/**
 * How much of a counter's total a field shows: nothing, if another field has shown it.
 *
 * @param mirrored    of the counter document
 * @param mirroredIn  of the counter document; earlier versions have not written it
 */
export function amountShown(
  mirrored: unknown,
  mirroredIn: unknown,
  target: Pick<MirrorTarget, "document" | "field">,
): number {
  const isOther = mirroredIn !== undefined && mirroredIn !== mirrorName(target);
  return typeof mirrored === "number" && Number.isFinite(mirrored) && !isOther ? mirrored : 0;
}

/** A counter that a document shows, and the field it is in. */
export interface MirrorSource {
  readonly counterId: string;
  readonly field: readonly string[];
}

/** What the entries are for: parameters of the functions, or an option of the command line. */
type MirrorParameter = "MIRRORS" | "BRIDGE" | "--map";

const VARIABLE = /\{([A-Za-z]\w*)\}/g;

/**
 * Parses a list of entries with commas between them: `group=path/{name}.field`, or
 * `group:{a}:{b}=path/{a}/path/{b}.field` for documents with several variable ids. `--map` has the two sides the other way
 * round.
 *
 * @param parameter  the name of the parameter, for errors: entries of `BRIDGE` and `--map` are bridged
 * @throws CounterError `counter/invalid-config`, naming the entry and the mistake
 */
export function parseMirrors(value: string, parameter: MirrorParameter): readonly Mirror[] {
  if (value.trim() === "") return [];
  const mirrors = value.split(",").map((entry) => parseMirror(entry.trim(), parameter));
  assertSeparate(mirrors, parameter);
  return mirrors;
}

/** @throws CounterError `counter/invalid-config` if a counter has two mirrors, or a field has two counters */
export function assertSeparate(mirrors: readonly Mirror[], parameter: string): void {
  mirrors.forEach((mirror, index) => {
    const earlier = mirrors.slice(0, index);
    const same = earlier.find(({ counters }) => groupPattern(counters) === groupPattern(mirror.counters));
    if (same) throw invalid(parameter, mirror.counters, "has two entries; a counter has one mirror");
    const other = earlier.find((one) => overlap(one, mirror));
    if (!other) return;
    const advice = `shares its field with ${other.counters}; give each counter a field of its own`;
    throw invalid(parameter, mirror.counters, advice);
  });
}

/** Equal for two templates that may match the same id: `likes:` for all counters of a group, `likes` for the one counter. */
function groupPattern(counters: string): string {
  return counters.replace(/:.*/s, ":");
}

/** Whether two mirrors may write to the same field, or one to a field within the other's. */
function overlap(one: Mirror, other: Mirror): boolean {
  const [segments, others] = [one.document.split("/"), other.document.split("/")];
  const meets = (segment: string, index: number) =>
    segment === others[index] || [segment, others[index]].some((text) => variablesOf(text ?? "").length > 0);
  const isWithin = one.field.every((name, i) => i >= other.field.length || name === other.field[i]);
  return segments.length === others.length && segments.every(meets) && isWithin;
}

/** The variables of a template, without repetitions. */
function variablesOf(template: string): string[] {
  return [...new Set([...template.matchAll(VARIABLE)].map(([, name = ""]) => name))];
}

function parseMirror(entry: string, parameter: MirrorParameter): Mirror {
  const refuse = (advice: string) => invalid(parameter, entry, advice);
  // The map of the command line names the field first. The ids in a path may contain "=".
  const isReversed = parameter === "--map";
  const sides = entry.split("=");
  const left = (isReversed ? sides.pop() : sides.shift()) ?? "";
  // The field starts at the first dot of the path's last segment.
  const path = /^((?:[^/]*\/)*[^/.]*)\.([^/]*)$/.exec(sides.join("="));
  const [, document = "", fields = ""] = path ?? [];
  const variables = variablesOf(document);
  const isShort = !left.includes(":") && variables.length === 1;
  const counters = isShort ? `${left}:{${variables[0]}}` : left;
  const segments = document.split("/");
  const field = fields.split(".");
  if (!path || !isCounterTemplate(counters) || /\s/.test(document + fields)) {
    throw refuse(
      isReversed
        ? "write path/{name}.field=group:{name}, such as pages/{page}.visits=views:{page}"
        : "write group=path/{name}.field, such as likes=posts/{name}.likes",
    );
  }
  if (segments.length % 2 !== 0 || !segments.every((segment) => isDocumentId(segment.replace(VARIABLE, "name")))) {
    throw refuse("name the path of a document, such as posts/{name}");
  }
  if (/[{}]/.test(segments[0] ?? "")) throw refuse(`leave ${segments[0]} out of the first segment`);
  if (!field.every((name) => isDocumentId(name) && !/[{}]/.test(name))) {
    throw refuse("name a field, such as likes or stats.likes");
  }
  if (variablesOf(counters).sort().join() !== variables.sort().join()) {
    throw refuse("use the same variables on both sides, such as likes:{user}:{post}=users/{user}/posts/{post}.likes");
  }
  return { counters, document, field, isBridged: parameter !== "MIRRORS" };
}

/** A group, or a group and variables, each once, with colons between them. */
function isCounterTemplate(counters: string): boolean {
  const [group = "", ...rest] = counters.split(":");
  const isPlain = isDocumentId(group) && !/[{}]/.test(group);
  return isPlain && new Set(rest).size === rest.length && rest.every((part) => part.replace(VARIABLE, "") === "");
}

function invalid(parameter: string, entry: string, advice: string): CounterError {
  return new CounterError("counter/invalid-config", `${parameter}: ${JSON.stringify(entry)}: ${advice}`);
}

/** @returns `undefined` for a counter that has no mirror, or whose name can name no document: `""`, `"."`, `".."` */
export function mirrorTarget(counterId: string, mirrors: readonly Mirror[]): MirrorTarget | undefined {
  for (const { counters, document, field, isBridged } of mirrors) {
    const values = match(counterId, counters, "[^:]+", ".+");
    if (!values) continue;
    const segments = document.split("/").map((segment) => fill(segment, values));
    return segments.every(isDocumentId) ? { document: segments.join("/"), field, isBridged } : undefined;
  }
  return undefined;
}

/**
 * The counters that a document shows, in the order of the entries. A counter whose own mirror is another document is left
 * out: with several variables, only the value of the last may contain a colon.
 */
export function mirrorSources(document: string, mirrors: readonly Mirror[]): readonly MirrorSource[] {
  return mirrors.flatMap((mirror) => {
    const values = match(document, mirror.document, "[^/]+", "[^/]+");
    const counterId = values ? fill(mirror.counters, values) : "";
    const isPair = isDocumentId(counterId) && mirrorTarget(counterId, [mirror])?.document === document;
    return isPair ? [{ counterId, field: mirror.field }] : [];
  });
}

/**
 * The values of a template's variables in a text.
 *
 * @param value  the pattern of a variable's value
 * @param last   the pattern of the last variable's value, at the end of the template
 * @returns      `undefined` if the text does not match
 */
function match(text: string, template: string, value: string, last: string): Record<string, string> | undefined {
  const named = new Set<string>();
  // Splitting by a pattern with a group leaves the names of the variables at the odd places.
  const parts = template.split(VARIABLE).map((part, index, { length }) => {
    if (index % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    if (named.has(part)) return `\\k<${part}>`;
    named.add(part);
    return `(?<${part}>${index === length - 2 && template.endsWith("}") ? last : value})`;
  });
  const found = new RegExp(`^${parts.join("")}$`, "su").exec(text);
  return found ? { ...found.groups } : undefined;
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLE, (_, name: string) => values[name] ?? "");
}
