/** The checks of functions, parameters, queue, roles and schedule. */
import { expect, test } from "vitest";
import { COUNTING_DEFAULTS } from "../../../functions/src/decisions.ts";
import { RATE_LIMITS, RETRY_CONFIG } from "../../../functions/src/deploy/taskLimits.ts";
import { deployed, healthyFacts, sampled, sampleOf, withParameters, withPolicy } from "../../testing/healthyFacts.ts";
import { findingsOf } from "./checks.ts";
import type { DeployedFunction, ProjectFacts } from "./facts.ts";
import { DECLARED_LIMITS } from "./queueChecks.ts";

test("the limits of the queue are those that the code declares", () => {
  expect({ ...RATE_LIMITS, ...RETRY_CONFIG }).toMatchObject(DECLARED_LIMITS);
});

const COUNTER = ["shardcreated", "shardzeroupdated", "baseupdated", "aggregate", "sweep"];

test("a deployment of a counter alone is complete; with a feature's parameter, its functions are missing", () => {
  const few = (parameters: Record<string, string>) => {
    const { functions } = withParameters(parameters) as { functions: { value: readonly DeployedFunction[] } };
    const value = functions.value.filter(({ name }) => COUNTER.some((one) => name.endsWith(`-${one}`)));
    return findingsOf(healthyFacts({ functions: { value } }));
  };
  expect(few({})).toEqual([]);
  for (const [name, value] of [
    ["VISITORS", "yes"],
    ["ITEMS", "yes"],
    ["INGEST_COUNTERS", "views:*"],
    ["INGEST_TOPIC", "events"],
    ["EVENTS_TOPIC", "log"],
    ["TOTALS_COUNTERS", "views:*"],
    ["COUNTED_COLLECTION", "posts"],
    ["BRIDGE", "views=pages/{name}.visits"],
  ] as const)
    expect(
      few({ [name]: value }).map(({ id }) => id),
      name,
    ).toContain("functions-incomplete");
});

test.each([
  ["eur3", "europe-west3", "warning"],
  ["nam5", "northamerica-northeast1", "warning"],
  ["eur3", "us-central1", "error"],
  ["asia-east1", "asia-south1", "warning"],
])("functions far from a database in %s, in %s: %s", (locationId, region, severity) => {
  const findings = findingsOf(
    healthyFacts({
      database: { value: { locationId, type: "FIRESTORE_NATIVE", edition: "STANDARD" } },
      declared: { value: null },
      functions: { value: deployed({ region, trigger: null, variables: { ...COUNTING_DEFAULTS, LOCATION: region } }) },
    }),
  );
  expect(findings.map(({ id, severity }) => [id, severity])).toEqual([["region-far", severity]]);
});

const ids = (changes: Partial<ProjectFacts>) => findingsOf(healthyFacts(changes)).map(({ id }) => id);
const functions = (...args: Parameters<typeof deployed>) => ({ functions: { value: deployed(...args) } });
const queue = (changes: object) => ({
  queue: { value: { ...(healthyFacts().queue as { value: object }).value, ...changes } as never },
});
const extension = deployed().map((one) => ({ ...one, name: one.name.replace("tally-", "ext-tally-") }));

test.each<[string, string[], Partial<ProjectFacts>]>([
  ["a right deployment", [], {}],
  ["an extension", [], { functions: { value: extension } }],
  [
    "a codebase with a prefix",
    [],
    { functions: { value: deployed().map((one) => ({ ...one, name: `eu-${one.name}` })) } },
  ],
  ["another app's sweep", ["functions-missing"], { functions: { value: deployed().slice(-1) } }],
  ["a function elsewhere", ["region-split"], functions({ region: "us-central1" }, "shardzeroupdated")],
  [
    "the witness of the database's multi-region",
    ["region-queue", "region-far"],
    {
      database: { value: { locationId: "nam5", type: "FIRESTORE_NATIVE", edition: "STANDARD" } },
      declared: { value: null },
      functions: {
        value: deployed().map((one) => ({
          ...one,
          region: "us-east1",
          trigger: one.trigger && { ...one.trigger, region: null },
        })),
      },
    },
  ],
  [
    "a field with two writers",
    ["parameters-invalid"],
    withParameters({ MIRRORS: "a=p/{name}.n", BRIDGE: "b=p/{name}.n" }),
  ],
  ["a slow queue", ["queue-limits"], queue({ maxConcurrentDispatches: 10 })],
  ["a queue that gives up", ["queue-limits"], queue({ maxAttempts: 3 })],
  ["a queue that never gives up", [], queue({ maxAttempts: -1 })],
  ["a schedule that never ran", [], { sweepJob: { value: { name: "job", state: "ENABLED", lastStatus: null } } }],
  ["old clients, and no trigger for them", ["adopted-off"], sampleOf([sampled({ numShards: 10 })])],
  [
    "a trigger for old clients",
    [],
    { ...withParameters({ ADOPTED: "yes" }), ...sampleOf([sampled({ numShards: 10 })]) },
  ],
  ["a trigger, and no old clients", ["adopted-unused"], withParameters({ ADOPTED: "yes" })],
  [
    "a trigger, and a sample without old clients",
    [],
    { ...withParameters({ ADOPTED: "yes" }), ...sampleOf([sampled()], { isComplete: false }) },
  ],
  ["a log of entries", [], withParameters({ EVENTS_TOPIC: "log", EVENTS_COLLECTION: "counters" })],
  ["a collection without a log", [], withParameters({ EVENTS_COLLECTION: "likes" })],
  [
    "a log without the role",
    Array(6).fill("role-missing"),
    { ...withParameters({ EVENTS_TOPIC: "log" }), grants: { value: { account: "a@b", roles: [] } } },
  ],
  ["an account without roles", Array(5).fill("role-missing"), { grants: { value: { account: "a@b", roles: [] } } }],
])("%s: %j", (_, found, changes) => {
  expect(ids(changes)).toEqual(found);
});

const counting = (path: string, values: object) => {
  const variables = { ...COUNTING_DEFAULTS, LOCATION: "europe-west1", COUNTED_COLLECTION: path, ...values };
  return deployed({ variables }).map((one) =>
    /-document(created|deleted)$/.test(one.name) && one.trigger
      ? { ...one, trigger: { ...one.trigger, document: `${path}/{document}` } }
      : one,
  );
};

test.each([
  ["posts", { MIRRORS: "posts=site/home.posts" }, []],
  ["posts", { MIRRORS: "posts=sites/{name}.posts" }, ["mirror-unused"]],
  ["posts/{post}/comments", { MIRRORS: "comments=posts/{name}.comments" }, []],
  ["posts/{post}/comments", { MIRRORS: "comments=site/home.comments" }, ["mirror-unused"]],
  ["posts/{post}/comments", { BRIDGE: "comments=posts/{name}.comments" }, ["bridge-counted"]],
])("COUNTED_COLLECTION %s with %j: %j", (path, values, found) => {
  expect(ids({ functions: { value: counting(path, values) }, ...withPolicy("true") })).toEqual(found);
});

test("functions whose parameters could not be seen are not taken for wrong", () => {
  expect(ids(functions({ variables: null }))).toEqual([]);
});
