/** The checks of the database, its indexes and TTL policies, the query plan and App Check. */

import { expect, test } from "vitest";
import { WINDOW_NAMES } from "../../../core/src/index.ts";
import { healthyFacts, withParameters } from "../../testing/healthyFacts.ts";
import { findingsOf } from "./checks.ts";
import { declaredDatabase } from "./declaredDatabase.ts";
import type { CompositeIndex, FieldConfig, ProjectFacts, QueryPlan } from "./facts.ts";
import { checkIndexes } from "./indexChecks.ts";

const found = (changes: Partial<ProjectFacts>) =>
  findingsOf(healthyFacts(changes)).map(({ id, severity }) => `${severity} ${id}`);
const healthy = healthyFacts() as unknown as {
  indexes: { value: CompositeIndex[] };
  fields: { value: FieldConfig[] };
  plan: { value: QueryPlan };
};
const indexes = (edit: (index: CompositeIndex) => Partial<CompositeIndex> | null) => ({
  indexes: { value: healthy.indexes.value.flatMap((index) => (edit(index) ? [{ ...index, ...edit(index) }] : [])) },
});
const fields = (edit: (field: FieldConfig) => Partial<FieldConfig>) => ({
  fields: { value: healthy.fields.value.map((field) => ({ ...field, ...edit(field) })) },
});
const ENTERPRISE = {
  database: { value: { locationId: "eur3", type: "FIRESTORE_NATIVE", edition: "ENTERPRISE" } },
  declared: { value: null },
};
const sweepIndex = (fieldPath: string): CompositeIndex => ({
  collectionGroup: "counters",
  queryScope: "COLLECTION",
  fields: [{ fieldPath, order: "ASCENDING" }],
  state: "READY",
});
const { value: plan } = healthy.plan;
const declaring = (declared: { location?: string; edition?: string }) => ({
  declared: {
    value: declaredDatabase({ firestore: [{ database: "shop" }, { rules: "x", ...declared }] }, "(default)"),
  },
});

test.each<[string, string[], Partial<ProjectFacts>]>([
  ["a right database", [], {}],
  [
    "no index of totals",
    ["warning index-missing"],
    indexes(({ fields }) => (fields[1]?.fieldPath === "total" ? null : {})),
  ],
  [
    "an index in another order",
    ["error index-missing"],
    indexes(({ collectionGroup, fields }) => (collectionGroup === "shards" ? { fields: fields.toReversed() } : {})),
  ],
  [
    "a broken index",
    ["error index-broken"],
    indexes(({ collectionGroup }) => ({ state: collectionGroup === "shards" ? "NEEDS_REPAIR" : "READY" })),
  ],
  [
    "a Standard database whose functions take it for Enterprise",
    ["error edition-differs"],
    withParameters({ EDITION: "enterprise" }),
  ],
  [
    "an Enterprise database whose functions take it for Standard, with the indexes of Standard",
    ["error edition-differs", "warning index-missing", "warning index-unused", "warning index-costs"],
    ENTERPRISE,
  ],
  ["a firebase.json that says the same", [], declaring({ location: "eur3", edition: "standard" })],
  ["a firebase.json that says nothing", [], declaring({})],
  ["a firebase.json with another location", ["error location-declared"], declaring({ location: "nam5" })],
  ["a firebase.json with another edition", ["error edition-declared"], declaring({ edition: "enterprise" })],
  [
    "a firebase.json with another location of a target",
    [],
    { declared: { value: declaredDatabase({ firestore: [{ target: "main", location: "nam5" }] }, "(default)") } },
  ],
  ["a firebase.json, and no database", ["error database-missing"], { database: { value: null } }],
  [
    "an Enterprise database without indexes",
    ["warning index-missing"],
    {
      ...ENTERPRISE,
      ...withParameters({ EDITION: "enterprise" }),
      indexes: { value: [] },
      ...fields(() => ({ indexes: null })),
    },
  ],
  [
    "an Enterprise database with the indexes of the sweep",
    [],
    {
      ...ENTERPRISE,
      ...withParameters({ EDITION: "enterprise" }),
      indexes: { value: ["phase", "nextReconcileAt"].map(sweepIndex) },
      ...fields(() => ({ indexes: null })),
    },
  ],
  ["a TTL policy that is applied", [], fields(({ ttl }) => ({ ttl: ttl && "CREATING" }))],
  [
    "a broken TTL policy",
    ["warning ttl"],
    fields(({ ttl, collectionGroup }) => ({ ttl: collectionGroup === "tallyHistory" && ttl ? "NEEDS_REPAIR" : ttl })),
  ],
  [
    "a plan with too many reads",
    ["warning plan"],
    { plan: { value: { ...plan, used: { indexes: plan.used?.indexes ?? [], reads: 2_500 } } } },
  ],
])("%s: %j", (_, wanted, changes) => {
  expect(found(changes)).toEqual(wanted);
});

test("the indexes of windows are expected where the functions count windows", () => {
  const regions = { REGIONS: "us=(default), eu=eu" };
  const missing = (facts: object) =>
    checkIndexes(healthyFacts(facts)).map(({ problem }) => /counters \(group, (\w+\.\w+)/.exec(problem)?.[1]);
  expect(missing(withParameters({ ...regions, WINDOWS: "" }))).toEqual([]);
  expect(missing({ functions: { unseen: "" } })).toEqual([]);
  expect(missing(withParameters({ WINDOWS: "likes" }))).toEqual(WINDOW_NAMES.map((window) => `windows.${window}`));
  expect(missing(withParameters({ ...regions, WINDOWS: "*" }))).toHaveLength(2 * WINDOW_NAMES.length);
});

test("the indexes of another collection are its own", () => {
  const target = { ...healthyFacts().target, collection: "tallies" };
  const ids = findingsOf(healthyFacts({ target, rules: { unseen: "" }, functions: { unseen: "" } })).map(
    ({ id }) => id,
  );
  expect(ids).toEqual([...Array(3).fill("index-missing"), "fields-indexed"]);
});

test("errors come before warnings", () => {
  const severities = found({ database: { value: null }, appCheck: { value: "OFF" }, queue: { value: null } });
  expect(severities).toEqual(["error database-missing", "error queue-missing", "warning app-check"]);
});

test("nothing is found where nothing could be seen", () => {
  const unseen = Object.fromEntries(
    Object.entries(healthyFacts()).map(([name, fact]) => [
      name,
      name === "target" || name === "reads" ? fact : { unseen: "" },
    ]),
  ) as unknown as ProjectFacts;
  expect(findingsOf(unseen)).toEqual([]);
});
