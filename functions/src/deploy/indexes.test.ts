import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type CounterRankOptions, rankingFields } from "../../../core/src/index.ts";

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

test("fields that grow with every write are exempt from indexes; those that are queried are not", () => {
  const { fieldOverrides } = JSON.parse(text("../../../firestore.indexes.json"));
  const exempt = fieldOverrides
    .filter(({ indexes }: { indexes: unknown[] }) => indexes.length === 0)
    .map(({ collectionGroup, fieldPath }: Record<string, string>) => `${collectionGroup}.${fieldPath}`);
  const growing = [
    ...["shard", "count", "writes", "at", "marks"].map((field) => `shards.${field}`),
    ...["asOf", "writes", "publishes", "stock", "source", "windows"].map((field) => `counters.${field}`),
    ...[
      "tallyHistory.points",
      "tallyHistory.expireAt",
      "tallyReceipts.expireAt",
      "tallyKeys.tat",
      "tallyKeys.expireAt",
    ],
    ...["tallyUses.slots", "tallyUses.for", "tallyUses.expireAt"],
  ];
  expect(exempt).toEqual(expect.arrayContaining(growing));
  for (const queried of ["total", "rate", "group", "phase", "nextReconcileAt"])
    expect(exempt).not.toContain(`counters.${queried}`);
});

const ORDERS: readonly CounterRankOptions[] = [{ orderBy: "total" }, { orderBy: "rate" }, { global: true }];

test("there is an index to sum the shards, in the order of its aggregation's fields", () => {
  const { indexes } = JSON.parse(text("../../../firestore.indexes.json"));
  const fields = ["shard", "count", "writes"].map((fieldPath) => ({ fieldPath, order: "ASCENDING" }));
  expect(indexes.filter(({ collectionGroup }: { collectionGroup: string }) => collectionGroup === "shards")).toEqual([
    { collectionGroup: "shards", queryScope: "COLLECTION", fields },
  ]);
});

test.each(ORDERS)("there is an index for the leaderboard with %o", (options) => {
  const { indexes } = JSON.parse(text("../../../firestore.indexes.json"));
  const ordered = rankingFields(options).map((fieldPath) => ({ fieldPath, order: "DESCENDING" }));
  const fields = [{ fieldPath: "group", order: "ASCENDING" }, ...ordered];
  expect(indexes).toContainEqual({ collectionGroup: "counters", queryScope: "COLLECTION", fields });
});

test("docs/configuration.md lists what the field overrides do to collections of the same ids", () => {
  type Override = { collectionGroup: string; fieldPath: string; ttl?: boolean; indexes: { queryScope?: string }[] };
  const { fieldOverrides }: { fieldOverrides: Override[] } = JSON.parse(text("../../../firestore.indexes.json"));
  const ids = [...new Set(fieldOverrides.map(({ collectionGroup }) => collectionGroup))];
  const fieldsOf = (id: string, which: (one: Override) => boolean) =>
    fieldOverrides.filter((one) => one.collectionGroup === id && which(one)).map(({ fieldPath }) => fieldPath);
  const wanted = ids.map((id) => [
    [id],
    fieldsOf(id, ({ indexes }) => !indexes.some(({ queryScope }) => queryScope === "COLLECTION")),
    fieldsOf(id, ({ ttl }) => ttl === true),
  ]);

  const document = text("../../../docs/configuration.md");
  const table = document.slice(document.indexOf("| collection id "));
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2);
  const namesIn = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const told = rows.map((row) => row.split("|").slice(1, 4).map(namesIn));
  expect(told).toEqual(wanted);
});
