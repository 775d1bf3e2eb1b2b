import { type DocumentSnapshot, Timestamp } from "firebase/firestore";
import { expect, test } from "vitest";
import { parsePublished } from "./published.ts";

const at = (seconds: number) => Timestamp.fromMillis(seconds * 1_000);
const window = (seconds: number, writes: number) => ({ at: at(seconds), nonces: Array.from({ length: writes }) });
const parse = (fields: Record<string, unknown>) =>
  parsePublished({ id: "views:home", get: (field: string) => fields[field] } as unknown as DocumentSnapshot);

test("a counter that clients alone have written has a total, as of the last increment, and no publish", () => {
  const direct = { open: true, generation: 1, count: 6, writes: 6, marks: { 0: window(100, 4), 1: window(120, 2) } };
  const counter = { total: 6, directWrites: 6, asOf: 120_000, publishedAt: undefined, rate: 0.1, isIdle: true };
  expect(parse({ total: 6, direct })).toMatchObject(counter);
});

test("the publish or the increment counts that is later; an increment without a time is not sent yet", () => {
  const marks = { 4: window(90, 4), 5: window(100, 1) };
  const fields = (asOf: number, more: object = {}) => ({
    ...{ total: 9, asOf: at(asOf), rate: 3, phase: "idle" },
    direct: { open: true, generation: 5, count: 5, writes: 5, marks: { ...marks, ...more } },
  });
  expect(parse(fields(110))).toMatchObject({ asOf: 110_000, rate: 3 });
  expect(parse(fields(95))).toMatchObject({ asOf: 100_000, publishedAt: 95_000, rate: 0.1 });
  expect(parse(fields(95, { 5: { at: null, nonces: ["x"] } }))).toMatchObject({ asOf: 95_000, rate: 3 });
});

test("without a publish and an increment there is no total", () => {
  expect(parse({ reservation: { shards: 5 } })).toBeUndefined();
});

test("fields that a server has damaged are left out", () => {
  const direct = { open: true, generation: 1, marks: { 0: { at: "then" }, 1: { at: 7, nonces: [] } } };
  const damaged = { nextPollAt: "soon", slowSince: 5, malformedShards: "3", phase: 7, direct };
  expect(parse({ total: 1, asOf: at(100), ...damaged })).toMatchObject({
    ...{ asOf: 100_000, nextPollAt: undefined, slowSince: undefined, malformedShards: ["3"] },
  });
  expect(parse({ total: 1, asOf: "today", ...damaged })).toBeUndefined();
});
