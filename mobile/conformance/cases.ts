/**
 * Turns docs/vectors.json into lines: one that asks a planner, and one that it must answer. The programs beside this file
 * read and write such lines, so that no language needs a JSON parser, and the comparison is in one place.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A question to a planner and its answer, words separated by tabs. */
export interface Case {
  readonly name: string;
  readonly question: string;
  readonly answer: string;
}

/** `docs/vectors.json`. */
export interface Vectors {
  commits: CommitVector[];
  refusals: {
    name: string;
    isAborted: boolean;
    hasMark: boolean;
    countedBy: number | null;
    by: number;
    isDirect: boolean;
    means: string;
  }[];
  names: { name: string; times?: number; valid: boolean }[];
  targets: TargetVector[];
  shardCounts: { name: string; steps: ShardCountStep[] }[];
  totals: { name: string; steps: TotalStep[] }[];
}

export interface CommitVector {
  name: string;
  /** The uid of the writer; `null` if signed out; `"server"` to bypass the rules. */
  auth: string | null;
  /** Documents before the commit: `{ "secondsAgo": n }` is a time before now, `{ "bytes": "…" }` bytes in base64. */
  before: { path: string; [field: string]: unknown }[];
  /** The call of a planner that makes this commit, if a client makes such commits. */
  plan?: Plan;
  /** The same of a direct increment. */
  directPlan?: DirectPlan;
  /** The body of `documents:commit`, with the placeholder `{project}`. */
  commit: { writes: Write[] };
  /** Whether the rules accept the commit, and the sum of the counter's shards and of its direct increments afterwards. */
  expect: { accepted: boolean; sum: number };
}

/** Of an undo, `by` and `shard` are what the entry says, which may be `direct`. The random numbers choose the shard and make the nonce. */
export interface Plan {
  call: "increment" | "undo";
  counter: string;
  by: number;
  once?: string;
  shardsToChooseFrom?: number;
  shard?: string;
  now: number;
  random: number[];
  /** Whether the commit also removes the slot of marks that has expired, as one in a transaction does. */
  removesMarks?: boolean;
}

/** The random numbers make the nonce. */
export interface DirectPlan extends Omit<Plan, "shardsToChooseFrom" | "shard" | "now" | "removesMarks"> {
  generation: number;
  /** Whether it creates the counter document. */
  isNew?: boolean;
}

/** The field `direct` of a counter document, and where the next increment goes. */
export interface TargetVector {
  name: string;
  open: boolean;
  generation: number;
  /** How many marks the generation has. */
  size: number;
  /** Milliseconds from the last write of the generation before to that of this one; `null` if one of them has no time yet. */
  sinceBefore: number | null;
  /** Whether there is a generation before. If not, `sinceBefore` is since the epoch. */
  hasBefore: boolean;
  /** The generation that the increment joins; `null` for a shard. */
  joins: number | null;
  /** How many it still takes. */
  room: number;
  /** How many shards a crowd needs, before it is rounded. */
  shards: number;
}

export interface ShardCountStep {
  do: "update" | "sent" | "answered" | "wait";
  at: number;
  shardCount?: number;
  growing?: boolean;
  /** How long the read took, in milliseconds. */
  readMillis?: number;
  refused?: boolean;
  /** Which write is answered, counted from 0; the oldest one without an answer if it is left out. */
  which?: number;
  /** What the planner says then. */
  choose: number;
  stale: boolean;
  contended: boolean;
  /** How long a write waits for a read of the shard count at most, in milliseconds. */
  countTimeout?: number;
}

/**
 * A total that is read has a `value`, `asOf` and perhaps `fromCache`; times are in microseconds, the round trip in milliseconds. `view`: the SDK
 * shows it with unsent writes. `has`: of which direct increments the document has marks; `gone`: of which they may have been removed.
 */
export type TotalStep = { total: number; pending: boolean } & (
  | { do: "made"; by: number }
  | { do: "committed"; which: number; at: number; roundTrip: number }
  | { do: "refused"; which: number }
  | { do: "planned"; which: number; direct: boolean }
  | { do: "read"; value: number; asOf: number; fromCache?: boolean; view?: boolean; has?: number[]; gone?: number[] }
);

interface Value {
  integerValue?: string;
  stringValue?: string;
  booleanValue?: boolean;
  mapValue?: { fields: Record<string, Value> };
}

interface Write {
  delete?: string;
  update?: { name: string; fields: Record<string, Value> };
  updateMask?: { fieldPaths: string[] };
  updateTransforms?: {
    fieldPath: string;
    increment?: { integerValue?: string };
    setToServerValue?: string;
    appendMissingElements?: { values: { bytesValue?: string }[] };
  }[];
}

export function readVectors(): Vectors {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../../docs/vectors.json"), "utf8"));
}

export function casesOf(vectors: Vectors): Case[] {
  const cases: Case[] = [];
  const add = (name: string, question: unknown[], ...answer: unknown[]) =>
    cases.push({ name, question: question.map((word) => word ?? "").join("\t"), answer: answer.join(" ") });
  for (const { name, times = 1, valid } of vectors.names)
    add(`name ${name}`, ["name", unitsOf(name.repeat(times))], valid);
  for (const one of vectors.refusals)
    add(one.name, ["refusal", one.isAborted, one.hasMark, one.countedBy, one.by, one.isDirect], one.means);
  for (const { name, open, generation, size, sinceBefore, joins, room, shards } of vectors.targets)
    add(name, ["target", open, generation, size, sinceBefore ?? -1], joins ?? "shard", room, shards);
  for (const { name, directPlan, commit } of vectors.commits) {
    if (!directPlan) continue;
    const { call, counter, by, once, generation, isNew = false, random } = directPlan;
    const group = isNew ? `${counter.split("/")[1]?.split(":")[0]}` : "";
    add(
      name,
      ["direct", call, counter, generation, isNew, group, by, once, random.join(" ")],
      commit.writes.map(writtenBy).join("\t"),
    );
  }
  for (const { name, plan, commit } of vectors.commits) {
    if (!plan) continue;
    const { call, counter, by, once, shardsToChooseFrom, shard = shardsToChooseFrom, now, random } = plan;
    add(
      name,
      ["plan", call, counter, shard, by, once, now, random.join(" "), plan.removesMarks ?? false],
      commit.writes.map(writtenBy).join("\t"),
    );
  }
  for (const { name, steps } of vectors.shardCounts) {
    cases.push({ name, question: "shardCount\tbegin", answer: "1 true false" });
    const answers = answeredBy(steps);
    for (const step of steps) {
      const more =
        step.do === "answered"
          ? [step.refused ?? false, answers.get(step)]
          : [step.shardCount, step.growing ?? false, step.readMillis];
      add(name, ["shardCount", step.do, step.at, ...more], step.choose, step.stale, step.contended);
      if (step.countTimeout) add(name, ["shardCount", "countTimeout", step.at], step.countTimeout);
    }
  }
  for (const { name, steps } of vectors.totals) {
    cases.push({ name, question: "total\tbegin", answer: "0 false" });
    for (const step of steps) add(name, ["total", step.do, ...totalArguments(step)], step.total, step.pending);
  }
  return cases;
}

/** Which write each answer is for, counted from 0: `which`, or the oldest one without an answer. */
export function answeredBy(steps: readonly ShardCountStep[]): ReadonlyMap<ShardCountStep, number> {
  let sent = 0;
  const unanswered = new Set<number>();
  const answers = new Map<ShardCountStep, number>();
  for (const step of steps) {
    if (step.do === "sent") unanswered.add(sent++);
    if (step.do !== "answered") continue;
    const which = step.which ?? ([...unanswered][0] as number);
    unanswered.delete(which);
    answers.set(step, which);
  }
  return answers;
}

function totalArguments(step: TotalStep): unknown[] {
  if (step.do === "made") return [step.by];
  if (step.do === "committed") return [step.which, step.at, step.roundTrip];
  if (step.do === "refused") return [step.which];
  if (step.do === "planned") return [step.which, step.direct];
  const { value, asOf, fromCache = false, has = [], gone = [] } = step;
  return [value, asOf, fromCache, has.join(" "), gone.join(" ")];
}

/** The UTF-16 units of a name, as numbers: half a surrogate pair has no other form in UTF-8. */
function unitsOf(name: string): string {
  return Array.from({ length: name.length }, (_, n) => name.charCodeAt(n)).join(" ");
}

/**
 * A write of the REST API as the programs print a planned one: its kind, its path, and its fields in order. A field that the mask has
 * and the document has not is removed.
 */
function writtenBy(write: Write): string {
  const path = (name: string) => name.replace(/^.*?\/documents\//, "");
  if (write.delete) return `delete ${path(write.delete)}`;
  const { name, fields } = write.update as NonNullable<Write["update"]>;
  const mask = write.updateMask?.fieldPaths;
  const values = leavesOf(fields);
  const set = [...values].map(([field, { integerValue, stringValue, booleanValue }]) => {
    if (booleanValue !== undefined) return `${field}=flag:${booleanValue}`;
    return integerValue === undefined ? `${field}=text:${stringValue}` : `${field}=whole:${integerValue}`;
  });
  if (mask && [...values.keys()].some((field) => !mask.includes(field)))
    throw new Error(`${name}: the mask is ${mask}`);
  const removed = (mask ?? []).filter((path) => !values.has(path)).map((path) => `${path.replaceAll("`", "")}=delete`);
  const transformed = (write.updateTransforms ?? []).map(({ fieldPath, increment, appendMissingElements }) => {
    const field = fieldPath.replaceAll("`", "");
    if (increment) return `${field}=increment:${increment.integerValue}`;
    const [bytes] = appendMissingElements?.values ?? [];
    return bytes ? `${field}=append:${[...Buffer.from(bytes.bytesValue ?? "", "base64")]}` : `${field}=serverTime`;
  });
  return [mask ? "merge" : "create", path(name), ...[...set, ...removed, ...transformed].sort()].join(" ");
}

/** The values of a document that are no maps, by path. */
function leavesOf(fields: Readonly<Record<string, Value>>, prefix = ""): ReadonlyMap<string, Value> {
  return new Map(
    Object.entries(fields).flatMap(([name, value]) =>
      value.mapValue
        ? [...leavesOf(value.mapValue.fields, `${prefix}${name}.`)]
        : [[`${prefix}${name}`, value] as const],
    ),
  );
}

/** Cases whose answer is another. Numbers may be written as 8, 8.0 or 8e0. */
export function wrongAnswers(cases: readonly Case[], answers: readonly string[]): string[] {
  const plain = (answer = "(none)") =>
    answer.replace(/(?<=^|\s)-?\d[\d.]*(?:[eE][-+]?\d+)?(?=\s|$)/g, (number) => `${Number(number)}`);
  return cases.flatMap(({ name, question, answer }, n) =>
    plain(answers[n]) === plain(answer)
      ? []
      : [`${name}\n  asked    ${question}\n  expected ${answer}\n  answered ${answers[n] ?? "(none)"}`],
  );
}
