/** What is wrong with the sampled counters: totals that are not published, shards that do not count, drift. */

import { BASE_SHARD, differenceBeyondRounding, isCount } from "../../../core/src/index.ts";
import { formatDuration, formatSigned, pluralize } from "../format.ts";
import { PAGES } from "../setup/packaged.ts";
import type { SampledCounter, SampledShard } from "./counterFacts.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed } from "./finding.ts";

/** A write that is not published after this long is a fault, as for `inspect`. */
const LATE_MS = 60_000;

/** The sweep runs every five minutes and repeats polls that are a minute late. What is later was not swept. */
const UNSWEPT_MS = 7 * 60_000;

/** How far the clocks of functions and database may differ. A document from a later future counts as damaged. */
const CLOCK_SKEW_MS = 5 * 60_000;

export function checkCounters({ counters }: ProjectFacts): Finding[] {
  const sample = seen(counters);
  if (!sample) return [];
  const { now, overdue } = sample;
  const findings = CHECKS.flatMap(({ finds, report }) => {
    const found = sample.counters.filter((counter) => finds(counter, now));
    return found.length > 0 ? [report(found, now)] : [];
  });
  if (overdue.length === 0) return findings;
  const oldest = Math.min(...overdue.map(({ dueAt }) => dueAt));
  return [
    ...findings,
    errorFinding(
      "reconcile-overdue",
      `${listed(overdue.map(({ id }) => id))} should have been reconciled ${formatDuration(now - oldest)} ago: the sweep does not run, or fails`,
      "look at the log of the function sweep and at its job in Cloud Scheduler",
    ),
  ];
}

interface Check {
  readonly finds: (counter: SampledCounter, now: number) => boolean;
  readonly report: (found: readonly SampledCounter[], now: number) => Finding;
}

const names = (found: readonly { id: string }[]) => listed(found.map(({ id }) => id));
const have = (found: readonly unknown[]) => (found.length === 1 ? "has" : "have");

/** The latest write that is not in the published total; `undefined` if there is none, or the shards were not listed. */
function latestUncounted({ shards, published }: SampledCounter): number | undefined {
  const asOf = published?.asOf ?? Number.NEGATIVE_INFINITY;
  const uncounted = (shards ?? []).map(({ updatedAt }) => updatedAt).filter((updatedAt) => updatedAt > asOf);
  return uncounted.length > 0 ? Math.max(...uncounted) : undefined;
}

function differs({ sum, published, documents, shards }: SampledCounter): boolean {
  if (sum === null || (!published && documents === 0)) return false;
  const magnitude = Math.max(Math.abs(sum), ...(shards ?? []).map(({ fields }) => Math.abs(Number(fields.count) || 0)));
  return differenceBeyondRounding(sum, Number(published?.total ?? 0), magnitude) !== 0;
}

function isPollLate({ published }: SampledCounter, now: number, by: number): boolean {
  return published !== null && published.nextPollAt !== null && now > published.nextPollAt + by;
}

/** Whether a write waits for a publish that nothing will make. */
function isStuck(counter: SampledCounter, now: number): boolean {
  if (!counter.published || !differs(counter)) return false;
  const { nextPollAt } = counter.published;
  const latest = latestUncounted(counter);
  const isLate = counter.shards === null || (latest !== undefined && now - latest > LATE_MS);
  return isLate && (nextPollAt === null || isPollLate(counter, now, LATE_MS));
}

const stuck: Check = {
  finds: (counter, now) => isStuck(counter, now) && !isPollLate(counter, now, UNSWEPT_MS),
  report: (found) =>
    errorFinding(
      "counter-stuck",
      `${names(found)} ${have(found)} writes older than a minute that are not published`,
      "look at the log of the functions, then run `npx firestore-tally publish` for them (`inspect` shows one counter)",
    ),
};

const neverPublished: Check = {
  finds: (counter, now) => {
    const latest = latestUncounted(counter);
    return (
      !counter.published &&
      !isHandMade(counter) &&
      counter.documents > 0 &&
      (latest === undefined || now - latest > LATE_MS)
    );
  },
  report: (found) =>
    errorFinding(
      "counter-unpublished",
      `${names(found)} ${have(found)} shards, and no total was ever published`,
      "check that the functions are deployed for this database and collection, and look at their log; the next write of a shard then publishes",
    ),
};

/** Whether it was made by hand, after Firebase's recipe, and `adopt` has not completed it. */
function isHandMade({ numShards, published, indexed, documents }: SampledCounter): boolean {
  return numShards !== null && (!published || indexed < documents);
}

const handMade: Check = {
  finds: isHandMade,
  report: (found) =>
    errorFinding(
      "counter-hand-made",
      `${names(found)} ${have(found)} num_shards, as counters made by hand, and ${found.length === 1 ? "was" : "were"} not adopted: each measurement reads every shard, or no total was ever published`,
      `run \`npx firestore-tally adopt\`: ${PAGES}/adopting.md`,
    ),
};

const unswept: Check = {
  finds: (counter, now) => isPollLate(counter, now, UNSWEPT_MS),
  report: (found, now) => {
    const oldest = Math.min(...found.map(({ published }) => published?.nextPollAt ?? now));
    return errorFinding(
      "poll-lost",
      `${names(found)} should have been measured ${formatDuration(now - oldest)} ago, and no sweep has repeated it`,
      "look at the log of the functions aggregate and sweep, at the task queue, and at the job in Cloud Scheduler",
    );
  },
};

const changedByHand: Check = {
  finds: (counter) =>
    counter.published !== null && counter.shards !== null && differs(counter) && latestUncounted(counter) === undefined,
  report: (found) =>
    errorFinding(
      "counter-changed",
      `${names(found)} ${have(found)} a total that is not the sum of the shards, without a later write: a shard was deleted, or the total was changed by hand`,
      "`npx firestore-tally publish` publishes the sum; `reset` sets a total",
    ),
};

const fromFuture: Check = {
  finds: ({ published }, now) =>
    published !== null && (!Number.isFinite(published.total) || published.asOf > now + CLOCK_SKEW_MS),
  report: (found) =>
    errorFinding(
      "counter-damaged",
      `${names(found)} ${have(found)} a total that is no number, or is dated in the future: the document was written by hand`,
      "`npx firestore-tally publish` publishes over it; let no server write counter documents",
    ),
};

function malformedOf({ shards, published }: SampledCounter): string[] {
  const stored = (shards ?? []).filter(({ fields }) => !isCount(fields.count)).map(({ id }) => id);
  return shards ? stored : [...(published?.malformedShards ?? [])];
}

const malformed: Check = {
  finds: (counter) => malformedOf(counter).length > 0,
  report: (found) =>
    errorFinding(
      "shards-malformed",
      `${names(found)} ${have(found)} shards whose count is not a number, such as shards/${malformedOf(found[0] as SampledCounter)[0]}: they are in no total`,
      "set their `count` to a number",
    ),
};

const outsideIndex: Check = {
  finds: (counter) => counter.sum !== null && counter.indexed < counter.documents && !isHandMade(counter),
  report: (found) => {
    const missing = found.reduce((sum, { documents, indexed }) => sum + documents - indexed, 0);
    return errorFinding(
      "shards-unindexed",
      `${names(found)} ${have(found)} ${pluralize(missing, "shard")} outside the index, so each measurement reads every shard`,
      "let servers write `shard` (the document's id), `count` and `writes`, as firestore-tally/admin does, and add the missing fields",
    );
  },
};

const FIELDS = ["shard", "count", "writes", "at", "marks"];

/** Whether the rules refuse every further increment of a shard. Clients do not write `base`. */
function isRefused({ id, fields }: SampledShard): boolean {
  if (id === BASE_SHARD || !isCount(fields.count)) return false;
  const { shard = id, writes = 0 } = fields;
  return shard !== id || !Number.isInteger(writes) || Object.keys(fields).some((field) => !FIELDS.includes(field));
}

const refused: Check = {
  finds: ({ shards }) => (shards ?? []).some(isRefused),
  report: (found) => {
    const [first] = found;
    const shard = first?.shards?.find(isRefused);
    return errorFinding(
      "shards-refused",
      `${names(found)} ${have(found)} shards that the rules let no client increment, such as shards/${shard?.id}: \`shard\` is not its id, \`writes\` is no integer, or there are other fields`,
      "correct these fields; let servers increment with firestore-tally/admin",
    );
  },
};

const countsByItself: Check = {
  finds: ({ hasSource, published }) => hasSource && typeof published?.countedCollection === "string",
  report: (found) =>
    errorFinding(
      "source-counted",
      `${names(found)} ${have(found)} a source, and COUNTED_COLLECTION counts the collection already: each scheduled reconcile fails`,
      "remove the source: `setCounterSource(ref, null)`",
    ),
};

function driftFromSource({ drift }: SampledCounter): number {
  return drift && "drift" in drift ? drift.drift : 0;
}

const drifted: Check = {
  finds: (counter) => driftFromSource(counter) !== 0,
  report: (found) => {
    const severe = found.some(({ drift }) => drift && "drift" in drift && Math.abs(drift.drift) > drift.alarmBeyond);
    return {
      id: "drift",
      severity: severe ? "error" : "warning",
      problem: `${listed(found.map((counter) => `${counter.id} (${formatSigned(driftFromSource(counter))})`))} ${have(found)} drifted from the source`,
      remedy:
        "correct it with `npx firestore-tally reconcile`, and look for writes of the source that do not increment in the same commit",
    };
  },
};

const uncomparable: Check = {
  finds: ({ drift }) => drift !== null && "error" in drift,
  report: (found) => {
    const [{ drift } = { drift: null }] = found;
    return errorFinding(
      "source-invalid",
      `${names(found)} cannot be compared with the source: ${drift && "error" in drift ? drift.error : ""}`,
      "set another source with setCounterSource, or create the index that the message names",
    );
  },
};

const CHECKS: readonly Check[] = [
  handMade,
  neverPublished,
  stuck,
  unswept,
  changedByHand,
  fromFuture,
  malformed,
  outsideIndex,
  refused,
  countsByItself,
  drifted,
  uncomparable,
];
