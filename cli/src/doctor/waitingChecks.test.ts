import { expect, test } from "vitest";
import { deployed, healthyFacts, NOW, sampleOf } from "../../testing/healthyFacts.ts";
import type { Waiting } from "./counterFacts.ts";
import { checkWaiting } from "./waitingChecks.ts";

const waiting = (kind: Waiting["kind"], owner: string, createdAgo: number, updatedAgo = createdAgo): Waiting => ({
  kind,
  owner,
  createdAt: NOW - createdAgo,
  updatedAt: NOW - updatedAgo,
});
const found = (all: readonly Waiting[], without = "") =>
  checkWaiting(
    healthyFacts({
      ...sampleOf([], { waiting: all }),
      functions: { value: deployed().filter(({ name }) => name !== `tally-${without}`) },
    }),
  );

test("increments of old apps that have waited for a minute are told", () => {
  expect(
    found([waiting("legacy-shards", "pages/late", 61_000), waiting("legacy-shards", "pages/new", 5_000)]),
  ).toMatchObject([
    { id: "legacy-shards-waiting", severity: "warning", problem: expect.stringMatching(/of pages\/late wait/) },
  ]);
});

test("visitors and items that no function merges are told, also where more keep coming", () => {
  const all = [waiting("visitors", "views:home", 3_600_000, 5_000), waiting("items", "songs", 61_000)];
  expect(found(all)).toEqual([]);
  expect(found([waiting("visitors", "views:home", 5_000)], "mergevisitors")).toEqual([]);
  expect(found(all, "mergevisitors")).toMatchObject([
    { id: "visitors-waiting", severity: "warning", remedy: expect.stringMatching(/^set VISITORS=yes in the \.env/) },
  ]);
  expect(found(all, "mergeitems")).toMatchObject([
    { id: "items-waiting", severity: "warning", remedy: expect.stringMatching(/^set ITEMS=yes/) },
  ]);
});
