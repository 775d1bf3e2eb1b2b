/** The web client's own planner, `core/`, is held to docs/vectors.json as those of the mobile clients are. */
import { expect, test } from "vitest";
import {
  createShardCountCache,
  DIRECT_SLOTS,
  directTarget,
  type IncrementPlan,
  isDocumentId,
  OptimisticTotal,
  planIncrement,
  randomShard,
  type SentWrite,
} from "../../core/src/index.ts";
import { MAX_COMMIT_MS } from "../../core/src/timeouts.ts";
import { answeredBy, casesOf, readVectors, wrongAnswers } from "../../mobile/conformance/cases.ts";

const vectors = readVectors();

test.each(vectors.names)("the name $name, $times times, is valid: $valid", ({ name, times = 1, valid }) => {
  expect(isDocumentId(name.repeat(times))).toBe(valid);
});

test.each(vectors.targets)(
  "target: $name",
  ({ open, generation, size, sinceBefore, hasBefore, joins, room, shards }) => {
    const at = (millis: number | null) => (millis === null ? null : { toMillis: () => millis });
    const start = hasBefore ? 1_767_225_600_000 : 0;
    const marks = {
      [generation % DIRECT_SLOTS]: { at: at(sinceBefore === null ? null : start + sinceBefore), nonces: Array(size) },
      ...(hasBefore && { [(generation + DIRECT_SLOTS - 1) % DIRECT_SLOTS]: { at: at(start), nonces: [] } }),
    };
    const target = directTarget({ open, generation, marks });
    expect([target._generation ?? null, target._room ?? 0, target._shards ?? 1]).toEqual([
      joins,
      room,
      Math.round(shards),
    ]);
  },
);

test.each(vectors.shardCounts)("shard count: $name", ({ steps }) => {
  let now = 0;
  const cache = createShardCountCache(() => now);
  const sent: SentWrite[] = [];
  const answers = answeredBy(steps);
  for (const step of steps) {
    now = step.at;
    if (step.do === "update") cache._update(step.shardCount, step.growing, step.readMillis);
    if (step.do === "sent") sent.push(cache._writeSent());
    if (step.do === "answered") cache._writeAnswered(sent[answers.get(step) as number] as SentWrite, step.refused);
    const { choose, stale, contended } = step;
    expect([cache._shardsToChooseFrom(), cache._isStale(), cache._isContended()], JSON.stringify(step)).toEqual([
      choose,
      stale,
      contended,
    ]);
    if (step.countTimeout) expect(cache._countTimeout(), JSON.stringify(step)).toBe(step.countTimeout);
  }
});

test.each(vectors.totals)("total: $name", ({ steps }) => {
  const total = new OptimisticTotal();
  const own: ReturnType<OptimisticTotal["_incrementMade"]>[] = [];
  const calls: { _plan?: IncrementPlan }[] = [];
  const planOf = (which: number, isDirect: boolean) =>
    planIncrement("c/x", isDirect ? 0 : "0", 1, 0, () => which / 256);
  for (const step of steps) {
    const made = "which" in step ? own[step.which] : undefined;
    if (step.do === "made") {
      calls.push({});
      own.push(total._incrementMade(step.by, undefined, false, calls.at(-1)));
    }
    if (step.do === "planned") (calls[step.which] as (typeof calls)[0])._plan = planOf(step.which, step.direct);
    if (step.do === "committed" && made)
      total._incrementCommitted(made, step.at + Math.min(step.roundTrip, MAX_COMMIT_MS) * 1_000);
    if (step.do === "refused" && made) total._incrementDropped(made);
    if (step.do === "read") {
      const { value, asOf, fromCache, view = false, has, gone = [] } = step;
      const source = fromCache ? "cache" : asOf === 0 || has || step.gone ? "server" : "copy";
      const hasMark = ({ nonce: [which = -1] }: IncrementPlan) =>
        gone.includes(which) ? undefined : has?.includes(which);
      total._totalRead({ total: value, asOf, version: asOf, source, pending: view, hasMark });
    }
    expect([total._total, total._pending], JSON.stringify(step)).toEqual([step.total, step.pending]);
  }
});

test("the first random number of a plan chooses the shard that the commit names", () => {
  const chosen = vectors.commits.flatMap(({ plan, commit }) =>
    plan?.call === "increment" ? [{ plan, names: commit.writes.map(({ update }) => update?.name) }] : [],
  );
  expect(chosen.length).toBeGreaterThan(10);
  for (const { plan, names } of chosen) {
    const shard = randomShard(plan.shardsToChooseFrom ?? 0, () => plan.random[0] ?? 0);
    expect(names.at(-1)).toMatch(new RegExp(`/${plan.counter}/shards/${shard}$`));
  }
});

test("a wrong answer to any question of the conformance kit is found", () => {
  const cases = casesOf(vectors);
  const answers = cases.map(({ answer }) => answer);
  expect(wrongAnswers(cases, answers)).toEqual([]);
  expect(
    wrongAnswers(
      cases,
      answers.map((answer) => answer.replace(/^(-?\d+)(?= )/, "$1.0")),
    ),
  ).toEqual([]);
  for (const [n, answer] of answers.entries())
    expect(wrongAnswers(cases, answers.with(n, `${answer}1`)), answer).toHaveLength(1);
  expect(wrongAnswers(cases, answers.slice(0, -2))).toHaveLength(2);
});
