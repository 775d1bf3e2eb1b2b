import { FieldValue } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { idle } from "../../testing/arbitraries.ts";
import { DEFAULT_CONFIG } from "../deploy/defaultConfig.ts";
import { directChange, shardTotalOf } from "./direct.ts";
import { directUpdate } from "./directField.ts";
import type { CounterConfig, Direct, PublishDecisions } from "./types.ts";

const open: Direct = {
  open: true,
  generation: 7,
  count: 3,
  marks: 4,
  lastWrite: 100_000,
  lastWriteOfAll: 100_000,
  lastWriteBefore: 80_000,
};

/** What the field is before a publish. */
const FIELDS = {
  "no field": undefined,
  "closed, last written two minutes before": {
    ...open,
    open: false,
    marks: 0,
    lastWrite: undefined,
    lastWriteOfAll: idle.asOf - 120_000,
  },
  "closed, written since": {
    ...open,
    open: false,
    marks: 0,
    lastWrite: undefined,
    lastWriteOfAll: idle.asOf - 119_999,
  },
  "not full": { ...open, marks: 3, lastWrite: 80_001 },
  "full after 20 s": open,
  "full sooner": { ...open, lastWrite: 99_999 },
  "full, the first": { ...open, lastWriteBefore: undefined },
} satisfies Record<string, Direct | undefined>;

const config: CounterConfig = { ...DEFAULT_CONFIG, direct: true, plans: [] };
const needsPublishes: PublishDecisions = { name: "any", needsPublishes: () => true };

/** What the next publish is like. */
const PUBLISHES = {
  calm: {},
  "not calm": { next: { rate: 0.1 } },
  polled: { next: { phase: "busy" } },
  quiet: { next: { phase: "quiet" } },
  "with two shards": { next: { shardCount: 2 } },
  "of a fraction": { next: { total: 0.5 } },
  "beyond what is safe": { next: { total: 2 ** 53 } },
  "that a feature needs": { config: { plans: [needsPublishes] } },
  "without direct increments": { config: { direct: false } },
} satisfies Record<string, { next?: Partial<typeof idle>; config?: Partial<CounterConfig> }>;

type Change = "next" | "first" | "reopen" | "close" | undefined;
/** A counter that clients must not write. */
const SHUT = {
  "no field": undefined,
  "closed, last written two minutes before": undefined,
  "closed, written since": undefined,
  "not full": "close",
  "full after 20 s": "close",
  "full sooner": "close",
  "full, the first": "close",
} as const;
const CHANGES: Record<keyof typeof PUBLISHES, Record<keyof typeof FIELDS, Change>> = {
  calm: {
    "no field": "first",
    "closed, last written two minutes before": "reopen",
    "closed, written since": undefined,
    "not full": undefined,
    "full after 20 s": "next",
    "full sooner": "close",
    "full, the first": "next",
  },
  "not calm": {
    "no field": undefined,
    "closed, last written two minutes before": undefined,
    "closed, written since": undefined,
    "not full": undefined,
    "full after 20 s": "next",
    "full sooner": "close",
    "full, the first": "next",
  },
  polled: SHUT,
  quiet: SHUT,
  "with two shards": SHUT,
  "of a fraction": SHUT,
  "beyond what is safe": SHUT,
  "that a feature needs": SHUT,
  "without direct increments": SHUT,
};

const cases = Object.entries(CHANGES).flatMap(([publish, byField]) =>
  Object.entries(byField).map(([field, change]) => [publish, field, change] as const),
);

test.each(cases)("a publish %s of a document that is: %s", (publish, field, change) => {
  const given: { next?: object; config?: object } = PUBLISHES[publish as keyof typeof PUBLISHES];
  const direct = FIELDS[field as keyof typeof FIELDS];
  const expected = {
    next: { open: true, generation: 8 },
    first: { open: true, generation: 2 },
    reopen: { open: true, generation: 9 },
    close: { open: false },
    none: undefined,
  };
  expect(directChange({ direct }, { ...idle, ...given.next }, { ...config, ...given.config })).toEqual(
    expected[change ?? "none"],
  );
});

describe("the update of the field", () => {
  test("begins a generation without marks, and leaves those of the others and the count", () => {
    expect(directUpdate({ open: true, generation: 8 }, false)).toEqual({
      "direct.open": true,
      "direct.generation": 8,
      "direct.marks.0": FieldValue.delete(),
    });
  });

  test("closes the document, and changes nothing else", () => {
    expect(directUpdate({ open: false }, false)).toEqual({ "direct.open": false });
  });

  test("of a document without the field adds a count of 0", () => {
    expect(directUpdate({ open: true, generation: 1 }, true)).toMatchObject({ "direct.count": 0, "direct.writes": 0 });
  });
});

test("the shards had what the total has without the direct increments", () => {
  expect([shardTotalOf(undefined), shardTotalOf({ total: 42, directCount: 12 })]).toEqual([0, 30]);
});
