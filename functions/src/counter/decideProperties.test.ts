import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../core/testing/runs.ts";
import { anyConfig, anyCounter, idle } from "../../testing/arbitraries.ts";
import { measured, T } from "../../testing/situations.ts";
import type { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import { type Cause, MAX_TASK_DELAY } from "./cause.ts";
import { decide, type Step } from "./decide.ts";
import { toTimestamp } from "./fields.ts";
import { publishInterval } from "./interval.ts";
import { includesWrite, type Measurement } from "./measurement.ts";
import { MAX_LISTED_SHARDS } from "./shards.ts";
import { toMillis } from "./time.ts";
import type { KnownState, Published } from "./types.ts";

describe("for any state, cause and measurement", () => {
  interface Case {
    readonly cause: Cause;
    readonly known: KnownState;
    readonly now: number;
    readonly margin: number;
    readonly config: typeof defaults;
  }
  /** Around the instants that matter. */
  const offsets = fc.oneof(fc.integer({ min: -2_000, max: 12_000 }), fc.integer({ min: -2_000, max: 4_000_000 }));
  const ids = fc.constantFrom("0", "1", "7", "base", "9999", "imported");
  const cases: fc.Arbitrary<Case> = fc
    .record({
      previous: fc.option(anyCounter, { nil: undefined }),
      config: anyConfig,
      margin: fc.constantFrom(0, 50),
      folded: fc.option(fc.record({ lastWritten: fc.option(fc.nat(1e12), { nil: undefined }) }), { nil: undefined }),
      at: fc.oneof(offsets, fc.constant("poll" as const)),
      isPoll: fc.boolean(),
      isNew: fc.boolean(),
      shardId: fc.option(ids, { nil: undefined }),
      lookedAt: offsets,
      asOf: offsets,
      more: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
      documents: fc.option(fc.nat(200), { nil: undefined }),
      listed: fc.boolean(),
      malformed: fc.boolean(),
      isMeasured: fc.boolean(),
    })
    .map(({ previous, config, margin, folded, isPoll, isNew, shardId, ...drawn }) => {
      const start = previous?.asOf ?? T;
      const due = previous?.nextPollAt ?? start;
      const at = drawn.at === "poll" ? due : start + drawn.at;
      const documents = drawn.documents ?? previous?.shardDocuments ?? 1;
      // An event, or a task, comes after what it is about; a clock may be wrong by a little.
      const now = Math.max(start + drawn.lookedAt, at - 20);
      const measurement = measured(previous ?? idle, Math.max(start + drawn.asOf, at - 20), {
        documents,
        total: (previous?.total ?? 0) + drawn.more,
        writes: Math.min((previous?.writes ?? 0) + drawn.more, Number.MAX_SAFE_INTEGER),
        ...(drawn.malformed && { malformed: ["x"] }),
      });
      const known = { previous, folded, ...(drawn.isMeasured && { measurement }) };
      return { cause: { at, isPoll, isNew, shardId }, known, now, margin, config };
    });
  const check = (holds: (one: Case, step: Step) => void) =>
    fc.assert(
      fc.property(cases, (one) => holds(one, decide(one.cause, one.known, one.now, one.margin, one.config))),
      runs(5_000),
    );

  test("I4: no total is published before it is due", () => {
    check(({ cause, known: { previous }, config }, step) => {
      if (step.do !== "publish" || !previous) return;
      const { asOf, shardCount, growing } = previous;
      expect(step.next.asOf).toBeGreaterThanOrEqual(asOf + config.minInterval);
      const isContended = cause.isNew && /^[0-9]+$/.test(cause.shardId ?? "") && Number(cause.shardId) >= shardCount;
      if (!isContended && !growing)
        expect(step.next.asOf).toBeGreaterThanOrEqual(asOf + publishInterval(previous, config));
    });
  });

  test("I2: a polled phase comes with its poll first, an idle one with none", () => {
    check((_, step) => {
      if (step.do !== "publish") return;
      const { phase, nextPollAt, asOf } = step.next;
      expect(nextPollAt === null).toBe(phase === "idle");
      expect(step.tasks.filter(({ kind }) => kind === "poll")).toEqual(
        nextPollAt === null ? [] : [{ due: nextPollAt, kind: "poll" }],
      );
      if (nextPollAt === null) return;
      expect(step.tasks[0]?.kind).toBe("poll");
      expect(nextPollAt).toBeGreaterThan(asOf);
      expect(nextPollAt - asOf).toBeLessThanOrEqual(MAX_TASK_DELAY);
    });
  });

  test("I2: a published counter with silent shards is polled", () => {
    check(({ known: { measurement } }, step) => {
      if (step.do !== "publish" || !measurement) return;
      const isSilent = measurement.shards
        ? [...measurement.shards.map(({ id }) => id), ...(measurement.malformed ?? [])].some(
            (id) => id !== "0" && id !== "base",
          )
        : measurement.documents > MAX_LISTED_SHARDS;
      if (isSilent) expect(step.next.phase).not.toBe("idle");
    });
  });

  test("I1: no write is lost: it is counted, covered by a scheduled poll, or gets a task", () => {
    check(({ cause, known: { previous, measurement }, margin }, step) => {
      const isCounted = (asOf: number) => cause.at <= asOf - margin;
      const isPolled = ({ nextPollAt }: Published) => nextPollAt !== null && nextPollAt >= cause.at;
      if (step.do === "schedule") expect(step.task.due).toBeGreaterThanOrEqual(cause.at);
      if (step.do === "nothing") {
        const isFound =
          measurement && (isCounted(toMillis(measurement.asOf)) || includesWrite(measurement, cause.shardId, cause.at));
        expect(isFound || (previous && (isCounted(previous.asOf) || isPolled(previous)))).toBe(true);
      }
      if (step.do === "publish" && measurement) {
        const isFound = isCounted(toMillis(measurement.asOf)) || includesWrite(measurement, cause.shardId, cause.at);
        expect(isFound || step.tasks.some(({ due }) => due >= cause.at)).toBe(true);
      }
    });
  });

  test("I2: the poll of a counter that has silent shards schedules the next one", () => {
    check(({ cause, known: { previous, measurement, folded }, config, now, margin }) => {
      if (!previous || previous.nextPollAt === null || !measurement) return;
      // By the poll itself, or by an event that comes after it was due.
      const at = Math.max(previous.nextPollAt + (cause.isPoll ? 0 : 1), cause.at);
      const asOf = Math.max(toMillis(measurement.asOf), at + margin);
      const known = {
        previous,
        folded,
        measurement: { ...measurement, asOf: toTimestamp(asOf) },
      };
      const step = decide({ ...cause, at }, known, Math.max(now, at), margin, config);
      if (step.do === "publish") expect(step.next.nextPollAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(at);
      else expect(["fold", "wait"]).toContain(step.do);
    });
  });

  test("the next publish is later, has no fewer writes, and a finite rate of six digits", () => {
    check(({ known: { previous, measurement } }, step) => {
      if (step.do !== "publish") return;
      const { rate, writes, publishes, asOf, total } = step.next;
      expect([total, asOf]).toEqual([measurement?.total, toMillis((measurement as Measurement).asOf)]);
      expect(publishes).toBe((previous?.publishes ?? 0) + 1);
      expect(asOf).toBeGreaterThan(previous?.asOf ?? 0);
      expect(writes).toBeGreaterThanOrEqual(previous?.writes ?? 0);
      expect(rate).toBeGreaterThanOrEqual(0);
      expect(rate).toBe(Number(rate.toPrecision(6)));
    });
  });
});
