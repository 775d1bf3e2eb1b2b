/**
 * `doctor` finds each of many planted misconfigurations, with its remedy, and nothing else.
 *
 * The documents are the emulator's. What the emulators lack is served by a stand-in of Google's APIs in the shapes of their
 * references (`testkit/googleApis.ts`), and Query Explain by a proxy; no test has met the APIs themselves.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue, type Firestore, Timestamp } from "@google-cloud/firestore";
import { initializeApp } from "firebase-admin/app";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { counter, setSource } from "../../admin/src/index.ts";
import { findingsOf } from "../../cli/src/doctor/checks.ts";
import type { CounterSample } from "../../cli/src/doctor/counterFacts.ts";
import type { ProjectFacts } from "../../cli/src/doctor/facts.ts";
import { readProject } from "../../cli/src/doctor/readProject.ts";
import { cliProject } from "../../testkit/cli.ts";
import { adminAt } from "../../testkit/clients.ts";
import { explained, withoutIndex } from "../../testkit/explained.ts";
import {
  type GoogleApis,
  healthyProject,
  healthyRules,
  pathsOf,
  type Resource,
  type Resources,
  serveGoogleApis,
} from "../../testkit/googleApis.ts";
import { type Inspection, startProxy } from "../../testkit/grpcProxy.ts";

const PROJECT = "demo-doctor-planted";
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const paths = pathsOf(PROJECT);
const { db, counter: make } = cliProject(PROJECT);
const app = initializeApp({ projectId: PROJECT }, PROJECT);
let apis: GoogleApis;

beforeAll(async () => {
  apis = await serveGoogleApis({});
  process.env.TALLY_GOOGLE_APIS = apis.address;
});
beforeEach(async () => {
  apis.resources = healthyProject(PROJECT);
  await fetch(`http://${host}/emulator/v1/projects/${PROJECT}/databases/(default)/documents`, { method: "DELETE" });
  await make("likes:post42", [5, 9, 1], { shardCount: 1 });
  await make("views:home", Array(30).fill(2), { shardCount: 30 });
});
afterAll(async () => {
  delete process.env.TALLY_GOOGLE_APIS;
  await apis.close();
  await db.terminate();
});

/** What the command reads, without its process, whose start would take most of the time. */
function readFacts(firestore: Firestore = db): Promise<ProjectFacts> {
  const context = {
    app,
    firestore: firestore as never,
    target: { project: PROJECT, database: "(default)", collection: "counters", emulator: host },
    json: false,
    yes: false,
    ref: (id: string) => counter(firestore as never, id),
  };
  return readProject(context, { sample: 20, readOwn: (file) => readFileSync(file, "utf8") });
}

const examine = async (firestore?: Firestore) => findingsOf(await readFacts(firestore));

type Plant = (resources: Resources) => void;
const functionsIn = (resources: Resources): Resource[] => resources[paths.functions].functions;
const functionIn = (resources: Resources, name: string): Resource =>
  functionsIn(resources).find((one) => one.name.endsWith(`-${name}`));
const setParameters =
  (values: Record<string, string>): Plant =>
  (resources) => {
    for (const one of functionsIn(resources)) Object.assign(one.serviceConfig.environmentVariables, values);
  };
const setRules =
  (edit: (rules: string) => string): Plant =>
  (resources) => {
    const edited = edit(healthyRules());
    expect(edited).not.toBe(healthyRules());
    resources[paths.ruleset].source.files[0].content = edited;
  };
const remove =
  (path: string): Plant =>
  (resources) => {
    delete resources[path];
  };
const change =
  (path: string, fields: object): Plant =>
  (resources) => {
    Object.assign(resources[path], fields);
  };

test.each<[id: string, remedy: RegExp, plant: Plant]>([
  ["database-missing", /--database/, remove(paths.database)],
  ["database-mode", /native mode/, change(paths.database, { type: "DATASTORE_MODE" })],

  ["rules-not-released", /deploy --only firestore:rules/, remove(paths.release)],
  [
    "rules-without-counters",
    /copy the policy and the rules/,
    setRules((all) => all.replaceAll("/counters/", "/tallies/")),
  ],
  ["rules-policy", /top of Tally's/, setRules((all) => all.replace(/function isAllowedAmount\([^}]*\}/, ""))],
  [
    "rules-outdated",
    /below the policy/,
    setRules((all) => all.replace("duration.value(2, 'm')", "duration.value(1, 'm')")),
  ],
  [
    "rules-outdated",
    /below the policy/,
    setRules((all) => all.replace(" || removesOldMarks(resource.data, request.resource.data)", "")),
  ],
  [
    "rules-allow-more",
    /remove it/,
    setRules((all) => all.replace("allow get: if isOwn(key);", "allow get: if isOwn(key); allow list;")),
  ],
  ["rules-open", /instead of a wildcard/, setRules((all) => all.replace("/posts/{post}", "/{any}/{document=**}"))],
  [
    "rules-overlap",
    /instead of a wildcard/,
    setRules((all) => all.replace(/match \/posts[^}]*\}[^}]*\}/, "match /{d=**} { allow write: if isOperator(); }")),
  ],

  ["functions-missing", /deploy --only functions/, change(paths.functions, { functions: [] })],
  [
    "functions-elsewhere",
    /DATABASE_ID/,
    (resources) => {
      for (const { eventTrigger } of functionsIn(resources)) {
        for (const one of eventTrigger?.eventFilters ?? []) if (one.attribute === "database") one.value = "eu";
      }
    },
  ],
  [
    "functions-incomplete",
    /deploy --only functions/,
    (resources) => functionsIn(resources).splice(functionsIn(resources).indexOf(functionIn(resources, "wakebase")), 1),
  ],
  ["function-state", /functions:log/, (resources) => Object.assign(functionIn(resources, "wake"), { state: "FAILED" })],
  [
    "function-retry",
    /retries/,
    (resources) =>
      Object.assign(functionIn(resources, "wake").eventTrigger, { retryPolicy: "RETRY_POLICY_DO_NOT_RETRY" }),
  ],
  [
    "function-trigger",
    /together/,
    (resources) => {
      functionIn(resources, "wakezero").eventTrigger.eventFilters[2].value = "counters/{counterId}/shards/1";
    },
  ],
  [
    "functions-twice",
    /uninstall/,
    (resources) => {
      const kit = structuredClone(functionsIn(resources));
      for (const one of kit) one.name = one.name.replace("tally-", "kit-main-");
      functionsIn(resources).push(...kit);
    },
  ],
  [
    "trigger-region",
    /DATABASE_REGION/,
    (resources) => Object.assign(functionIn(resources, "wake").eventTrigger, { triggerRegion: "eur3" }),
  ],
  [
    "region-far",
    /europe-west1/,
    (resources) => {
      resources[paths.database].locationId = "eur3";
      for (const { eventTrigger } of functionsIn(resources)) if (eventTrigger) eventTrigger.triggerRegion = "eur3";
    },
  ],
  ["region-queue", /old region/, setParameters({ LOCATION: "europe-west1" })],
  [
    "runtime",
    /nodejs24/,
    (resources) => Object.assign(functionIn(resources, "wake").buildConfig, { runtime: "nodejs20" }),
  ],

  ["parameters-invalid", /\.env/, setParameters({ MIN_SHARDS: "200", MAX_SHARDS: "100" })],
  ["parameters-invalid", /\.env/, setParameters({ MIRRORS: "likes=counters/{key}.likes" })],
  [
    "parameters-differ",
    /together/,
    (resources) =>
      Object.assign(functionIn(resources, "sweep").serviceConfig.environmentVariables, { PRECISION: "0.1" }),
  ],
  ["parameters-invalid", /\.env/, setParameters({ INGEST_ORIGINS: "example.com" })],
  ["parameters-invalid", /\.env/, setParameters({ TOTALS_COUNTERS: "*" })],
  ["shards-fixed", /raise MAX_SHARDS/, setParameters({ MAX_SHARDS: "1" })],
  ["shards-minimum", /ensureCounter/, setParameters({ MIN_SHARDS: "5" })],

  ["queue-missing", /deploy --only functions/, remove(paths.queue)],
  ["queue-stopped", /queues resume/, change(paths.queue, { state: "PAUSED" })],
  [
    "queue-limits",
    /deploy/,
    change(paths.queue, { rateLimits: { maxDispatchesPerSecond: 5, maxConcurrentDispatches: 500 } }),
  ],
  [
    "role-missing",
    /add-iam-policy-binding demo-doctor-planted .*roles\/cloudtasks.enqueuer/,
    (resources) => resources[paths.projectPolicy].bindings.splice(1, 1),
  ],
  ["role-missing", /service-accounts add-iam-policy-binding/, change(paths.accountPolicy, { bindings: [] })],
  [
    "role-missing",
    /add-iam-policy-binding demo-doctor-planted .*roles\/pubsub.publisher/,
    (resources) => {
      setParameters({ EVENTS_TOPIC: "tally-log" })(resources);
      resources[`pubsub.googleapis.com/v1/projects/${PROJECT}/topics/tally-log:getIamPolicy`] = { bindings: [] };
    },
  ],
  ["sweep-missing", /deploy --only functions/, remove(paths.job)],
  ["sweep-stopped", /jobs resume/, change(paths.job, { state: "PAUSED" })],
  ["sweep-failing", /log/, change(paths.job, { status: { code: 13 } })],

  ["index-missing", /firestore:indexes/, (resources) => resources[paths.indexes].indexes.pop()],
  ["index-building", /wait/, (resources) => Object.assign(resources[paths.indexes].indexes[2], { state: "CREATING" })],
  [
    "index-broken",
    /delete it/,
    (resources) => Object.assign(resources[paths.indexes].indexes[2], { state: "NEEDS_REPAIR" }),
  ],
  [
    "fields-indexed",
    /firestore:indexes/,
    (resources) => {
      const { fields } = resources[paths.fields];
      resources[paths.fields].fields = fields.filter(({ name }: Resource) => !name.endsWith("/shards/fields/at"));
    },
  ],
  [
    "ttl",
    /firestore:indexes/,
    (resources) => {
      delete resources[paths.fields].fields.find(({ name }: Resource) => name.includes("/receipts/")).ttlConfig;
    },
  ],
  ["app-check", /enable-enforcement/, change(paths.appCheck, { enforcementMode: "UNENFORCED" })],
])("finds %s, and nothing else; the remedy is %s", async (id, remedy, plant) => {
  plant(apis.resources);
  expect(await examine()).toMatchObject([{ id, remedy: expect.stringMatching(remedy) }]);
});

test("finds a mirror that no counter of the counted collection has", async () => {
  setParameters({ COUNTED_COLLECTION: "posts", MIRRORS: "posts=sites/{key}.posts" })(apis.resources);
  for (const name of ["created", "deleted"]) {
    functionIn(apis.resources, name).eventTrigger.eventFilters[2].value = "posts/{document}";
  }
  expect(await examine()).toMatchObject([{ id: "mirror-unused", severity: "warning" }]);
});

test("finds a log of increments with a key whose collection is another one; the topic may grant the role", async () => {
  const policy = structuredClone(apis.resources[paths.accountPolicy]);
  policy.bindings[0].role = "roles/pubsub.publisher";
  apis.resources[`pubsub.googleapis.com/v1/projects/${PROJECT}/topics/tally-log:getIamPolicy`] = policy;
  setParameters({ EVENTS_TOPIC: "tally-log", EVENTS_COLLECTION: "likes" })(apis.resources);
  functionIn(apis.resources, "logentries").eventTrigger.eventFilters[2].value = "likes/{counterId}/entries/{key}";
  expect(await examine()).toMatchObject([{ id: "events-elsewhere", remedy: expect.stringContaining("_none") }]);
});

test("finds a field that stands still since no parameter names it", async () => {
  await db.doc("counters/likes:post42").update({ mirrored: 9 });
  expect(await examine()).toMatchObject([
    { id: "mirror-missing", severity: "warning", remedy: expect.stringContaining(".env.<project>") },
  ]);
  setParameters({ MIRRORS: "likes=posts/{key}.likes" })(apis.resources);
  expect(await examine()).toEqual([]);
});

describe("regions", () => {
  const eu = adminAt(host, PROJECT, "tally-eu");
  afterAll(() => eu.close());
  /** The register of the default database in the other one. */
  const arrive = (id: string, register: object) =>
    eu.firestore.doc(`counters/${id}`).set({ regions: { us: register } }, { merge: true });

  beforeEach(async () => {
    await fetch(`http://${host}/emulator/v1/projects/${PROJECT}/databases/tally-eu/documents`, { method: "DELETE" });
    const inEu = structuredClone(functionsIn(apis.resources));
    for (const one of inEu) {
      one.name = one.name.replace("tally-", "eu-");
      one.serviceConfig.environmentVariables.DATABASE_ID = "tally-eu";
      for (const filter of one.eventTrigger?.eventFilters ?? []) {
        if (filter.attribute === "database") filter.value = "tally-eu";
      }
    }
    functionsIn(apis.resources).push(...inEu);
    setParameters({ REGIONS: "us=(default), eu=tally-eu" })(apis.resources);
    for (const id of ["likes:post42", "views:home"]) {
      const { total, asOf } = (await db.doc(`counters/${id}`).get()).data() ?? {};
      await arrive(id, { total, asOf });
    }
  });

  test("nothing is wrong when each has what the other has counted", async () => {
    expect(await examine()).toEqual([]);
  });

  test("finds what has not arrived, and a region that has lost increments", async () => {
    await arrive("likes:post42", { total: 3, asOf: minutesAgo(90) });
    expect(await examine()).toMatchObject([{ id: "region-behind", problem: expect.stringContaining("likes:post42") }]);
    await arrive("likes:post42", { total: 99, asOf: Timestamp.now() });
    expect(await examine()).toMatchObject([
      { id: "region-restored", problem: expect.stringContaining("likes:post42") },
    ]);
  });

  test("waits for an exchange that is under way", async () => {
    await arrive("likes:post42", { total: 3, asOf: minutesAgo(90) });
    await db.doc("counters/likes:post42").update({ exchangeAt: Timestamp.fromMillis(Date.now() - 8_000) });
    const found = examine();
    await sleep(1_000);
    const { total, asOf } = (await db.doc("counters/likes:post42").get()).data() ?? {};
    await arrive("likes:post42", { total, asOf });
    expect(await found).toEqual([]);
  });
});

type Spoil = (firestore: Firestore) => Promise<unknown>;
const minutesAgo = (minutes: number) => Timestamp.fromMillis(Date.now() - minutes * 60_000);

test.each<[id: string, remedy: RegExp, spoil: Spoil]>([
  ["counter-changed", /reset/, (firestore) => firestore.doc("counters/likes:post42/shards/2").delete()],
  [
    "counter-damaged",
    /next increment/,
    (firestore) => firestore.doc("counters/likes:post42").update({ asOf: minutesAgo(-60) }),
  ],
  ["poll-lost", /sweep/, (firestore) => firestore.doc("counters/views:home").update({ nextPollAt: minutesAgo(30) })],
  [
    "shards-malformed",
    /to a number/,
    (firestore) => firestore.doc("counters/likes:post42/shards/7").set({ shard: "7", count: "many", writes: 1 }),
  ],
  [
    "shards-unindexed",
    /firestore-tally\/admin/,
    (firestore) => firestore.doc("counters/likes:post42/shards/0").update({ shard: FieldValue.delete() }),
  ],
  [
    "shards-unindexed",
    /firestore-tally\/admin/,
    (firestore) => firestore.doc("counters/views:home/shards/7").update({ writes: FieldValue.delete() }),
  ],
  [
    "shards-refused",
    /correct these fields/,
    (firestore) => firestore.doc("counters/likes:post42/shards/0").update({ shard: "1" }),
  ],
  [
    "source-counted",
    /remove the source/,
    (firestore) =>
      firestore.doc("counters/likes:post42").update({ countedCollection: "posts", source: { collection: "posts" } }),
  ],
  [
    "source-invalid",
    /setSource/,
    (firestore) => firestore.doc("counters/likes:post42").update({ source: { collection: "posts/x" } }),
  ],
  [
    "reconcile-overdue",
    /sweep/,
    (firestore) => firestore.doc("counters/likes:post42").update({ nextReconcileAt: minutesAgo(60) }),
  ],
])("finds %s in the database, and nothing else; the remedy is %s", async (id, remedy, spoil) => {
  await spoil(db);
  expect(await examine()).toMatchObject([{ id, severity: "error", remedy: expect.stringMatching(remedy) }]);
});

test("finds drift from a source: a warning, and an error beyond the alarm", async () => {
  for (let n = 0; n < 20; n++) await db.collection("posts").add({});
  const ref = counter(db as never, "likes:post42");
  await setSource(ref, { collection: "posts" }, { alarmBeyond: 10 });
  const remedy = expect.stringContaining("npx firestore-tally reconcile");
  const problem = expect.stringContaining("likes:post42 (+5)");
  expect(await examine()).toMatchObject([{ id: "drift", severity: "warning", problem, remedy }]);
  await setSource(ref, { collection: "posts" }, { alarmBeyond: 3 });
  expect(await examine()).toMatchObject([{ id: "drift", severity: "error", problem, remedy }]);
});

test("finds counters whose writes wait for a publish that does not come, after a minute", async () => {
  await make("likes:fine", [3]);
  await make("likes:stuck", [3]);
  await db.doc("counters/likes:stuck/shards/0").update({ count: 4, writes: 4 });
  await db.doc("counters/views:never/shards/0").set({ shard: "0", count: 1, writes: 1 });
  const facts = await readFacts();
  expect(findingsOf(facts)).toEqual([]);
  const { value: sample } = facts.counters as { value: CounterSample };
  const later = findingsOf({ ...facts, counters: { value: { ...sample, now: sample.now + 61_000 } } });
  expect(later).toMatchObject([
    {
      id: "counter-unpublished",
      problem: expect.stringMatching(/^views:never has/),
      remedy: expect.stringContaining("deployed"),
    },
    { id: "counter-stuck", problem: expect.stringMatching(/^likes:stuck has/), remedy: expect.stringContaining("log") },
  ]);
});

test("finds increments of old apps that nothing adds up, after a minute", async () => {
  await db.doc("pages/home/_counter_shards_/client").set({ visits: 3 });
  const facts = await readFacts();
  expect(findingsOf(facts)).toEqual([]);
  const { value: sample } = facts.counters as { value: CounterSample };
  const later = findingsOf({ ...facts, counters: { value: { ...sample, now: sample.now + 61_000 } } });
  expect(later).toMatchObject([{ id: "legacy-shards-waiting", problem: expect.stringContaining("pages/home has") }]);
});

test("finds by Query Explain that the planner takes another index, and by its error that there is none", async () => {
  expect(await throughProxy(explained("(shard ASC, count ASC, writes ASC, __name__ ASC)", 1))).toEqual([]);
  const other = await throughProxy(explained("(__name__ ASC)", 30));
  expect(other).toMatchObject([{ id: "plan", problem: expect.stringContaining("30 reads") }]);
  apis.resources[paths.indexes] = null;
  expect(await throughProxy(withoutIndex)).toMatchObject([{ id: "index-missing", severity: "error" }]);
});

async function throughProxy(inspection: Inspection) {
  const proxy = await startProxy(host, [inspection]);
  const { firestore, close } = adminAt(proxy.address, PROJECT);
  try {
    return await examine(firestore);
  } finally {
    await close();
    proxy.close();
  }
}
