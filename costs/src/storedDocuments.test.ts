/** The sizes that costs reckon with are those of the documents that the functions and clients write. */
import { readFileSync } from "node:fs";
import { Firestore, Timestamp, type WriteBatch } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { DIRECT_SLOTS, eachWindow } from "../../core/src/index.ts";
import { serializeCounter } from "../../functions/src/counter/counterDocument.ts";
import type { CounterConfig, CounterState, Published } from "../../functions/src/counter/types.ts";
import { DEFAULT_CONFIG } from "../../functions/src/deploy/defaultConfig.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { documentBytes, type StoredFields } from "./documentSize.ts";
import { BYTES, type Chosen, counterBytes, historyBytes, markedShard } from "./storedDocuments.ts";

const HOUR = 3_600_000;
const asOf = Timestamp.fromMillis(1_800_000_000_000);
const window = { until: asOf.toMillis(), total: 7 };
const published = {
  ...{
    total: 7,
    shardCount: 2,
    growing: false,
    writes: 7,
    rate: 1,
    amountRate: 1,
    publishes: 3,
    asOf: asOf.toMillis(),
  },
  ...{
    phase: "scattered",
    nextPollAt: asOf.toMillis(),
    calmSince: asOf.toMillis(),
    unusedSince: asOf.toMillis(),
    shardDocuments: 2,
    slowSince: null,
  },
  ...{ malformedShards: [], counted: null, history: { hasMinute: true }, stock: null },
  windows: { timeZone: "UTC", ...eachWindow(() => window) },
} as unknown as Published;

/** What a publish writes: the fields of the counter document, and the documents of the history by their paths. */
async function publish({ windows = false, history: keepsHistory = false }: Chosen) {
  const ref = new Firestore({ projectId: "demo-sizes" }).doc("counters/views:home");
  const before: Published = {
    ...published,
    history: { hasMinute: keepsHistory },
    ...(windows ? {} : { windows: null }),
  };
  const state = { ref, published: before, adjusted: undefined } as unknown as CounterState;
  const next = { ...before, asOf: before.asOf + HOUR };
  const config: CounterConfig = {
    ...DEFAULT_CONFIG,
    history: { ...DEFAULT_CONFIG.history, groups: keepsHistory ? "all" : [] },
  };
  const contributions = await Promise.all(FEATURES.map((one) => one.contribute?.(state, next, config)));
  const history = new Map<string, StoredFields>();
  const batch = { set: ({ path }: { path: string }, fields: StoredFields) => history.set(path, fields) };
  for (const one of contributions) one?.addTo?.(batch as unknown as WriteBatch);
  const fields = Object.assign({}, serializeCounter(ref.id, next, asOf), ...contributions.map((one) => one?.fields));
  return { path: ref.path, fields: fields as StoredFields, history };
}

test.each<Chosen>([{}, { history: true }, { windows: true, history: true }])(
  "the counter document with %j is as large as the functions write it, and below 1 KiB; so is its history",
  async (chosen) => {
    const { path, fields, history } = await publish(chosen);
    expect(documentBytes(path, fields)).toBe(counterBytes(1, chosen));
    expect(counterBytes(1, chosen)).toBeLessThan(1_024);
    const minutes = [...history].filter(([name]) => name.includes("minutes-"));
    expect(minutes.map(([name, first]) => documentBytes(name, first))).toEqual(
      chosen.history ? [historyBytes(1, chosen)] : [],
    );
  },
);

test("a direct write is one write unit: with all its marks the counter document is below 1 KiB", () => {
  const direct = { open: true, generation: 7, count: 30, writes: 30, marks: {} as Record<string, StoredFields> };
  // All but the slot of the next generation.
  for (let slot = 1; slot < DIRECT_SLOTS; slot++)
    direct.marks[slot] = { at: asOf, nonces: [1, 2, 3, 4].map(() => new Uint8Array(5)) };
  expect(BYTES.directCounter - counterBytes()).toBe(documentBytes("a", { direct }) - documentBytes("a", {}));
  expect(BYTES.directCounter).toBeLessThan(1_024);
});

test("an entry has the fields that clients write, and is below 1 KiB", () => {
  const { fields } = JSON.parse(readFileSync("docs/vectors.json", "utf8"))
    .commits.flatMap(({ commit }: { commit: { writes: object[] } }) => commit.writes)
    .find(({ update }: { update?: { name: string } }) => update?.name.includes("/tallyEntries/")).update;
  // `at` is a transform.
  expect([...Object.keys(fields), "at"].sort()).toEqual(["at", "by", "once", "shard"]);
  expect(BYTES.entry).toBeLessThan(1_024);
});

describe("a shard", () => {
  test("is between the rows of the table, and as at the first below it", () => {
    expect(markedShard(0.25, 0)).toEqual({ bytes: 593, units: 1 });
    expect(markedShard(0.375, 0).bytes).toBeCloseTo(690.5);
    expect(markedShard(0, 1)).toEqual(markedShard(0.02, 1));
    expect(markedShard(20, 0).bytes).toBeGreaterThan(markedShard(10, 0).bytes);
    expect(markedShard(0.5, 0.5).units).toBeCloseTo(1.02);
  });

  test("is below 1 KiB at the rate at which a counter grows on Enterprise, if transactions write it", () => {
    expect(markedShard(0.35 * 0.7, 0).units).toBe(1);
  });
});

test("no document that is read alone has more than 4 KiB, but for the sketch and the history", () => {
  for (const bytes of [counterBytes(5, { windows: true }), BYTES.entry, BYTES.unmarkedShard, markedShard(1, 1).bytes])
    expect(bytes).toBeLessThan(4_096);
});
