/**
 * What `doctor` reads of a project in production, from APIs that answer in the shapes of their references (no test has met the APIs
 * themselves): it finds each of many planted misconfigurations, with its remedy, and nothing else.
 */
import { tmpdir } from "node:os";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  attemptedTask,
  type GoogleApis,
  healthyProject,
  healthyRules,
  pathsOf,
  type Resource,
  type Resources,
  serveGoogleApis,
} from "../../testing/googleApis.ts";
import { healthyFacts } from "../../testing/healthyFacts.ts";
import { findingsOf } from "./checks.ts";
import { connectApis } from "./googleApis.ts";
import { readApis } from "./readApis.ts";
import { unseenOf } from "./unseen.ts";

const PROJECT = "demo-planted";
const paths = pathsOf(PROJECT);
const target = { ...healthyFacts().target, project: PROJECT };
let apis: GoogleApis;

beforeAll(async () => {
  apis = await serveGoogleApis({});
});
beforeEach(() => {
  vi.stubEnv("TALLY_GOOGLE_APIS", apis.address);
  apis.resources = healthyProject(PROJECT);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await apis.close();
});

/** The facts from the APIs, beside counters in which nothing is wrong. */
const readFacts = async (of = target) =>
  healthyFacts({ target: of, declared: { value: null }, ...(await readApis(await connectApis(PROJECT), of)) });
const examine = async (of = target) => findingsOf(await readFacts(of));

type Plant = (resources: Resources) => void;
const functionsIn = (resources: Resources): Resource[] => resources[paths.functions].functions;
const functionIn = (resources: Resources, name: string): Resource =>
  functionsIn(resources).find((one) => one.name.endsWith(`-${name}`));
const setParameters =
  (values: Record<string, string>): Plant =>
  (resources) => {
    for (const one of functionsIn(resources)) Object.assign(one.serviceConfig.environmentVariables, values);
  };
/** Replaces some fields of a function, or of a part. */
const changeFunction =
  (name: string, changes: object, part?: "eventTrigger" | "buildConfig"): Plant =>
  (resources) => {
    const found = functionIn(resources, name);
    Object.assign(part ? found[part] : found, changes);
  };
const setRules =
  (before: string | RegExp, after: string): Plant =>
  (resources) => {
    const edited =
      typeof before === "string" ? healthyRules().replaceAll(before, after) : healthyRules().replace(before, after);
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
const setIndex =
  (n: number, state: string): Plant =>
  (resources) =>
    Object.assign(resources[paths.indexes].indexes[n], { state });
const failTasks =
  (attempts: number, code: number, name = "aggregate"): Plant =>
  (resources) => {
    const tasks = [attemptedTask(attempts, code, "HTTP status code 4xx")];
    resources[paths.tasks.replace("aggregate", name)] = { tasks };
  };
const topic = `pubsub.googleapis.com/v1/projects/${PROJECT}/topics/tally-log:getIamPolicy`;

test.each<[what: string, remedy: RegExp, plant: Plant]>([
  ["error database-missing", /--database/, remove(paths.database)],
  ["error database-mode", /native mode/, change(paths.database, { type: "DATASTORE_MODE" })],

  ["error rules-not-released", /deploy --only firestore:rules/, remove(paths.release)],
  ["error rules-without-counters", /copy the policy and the rules/, setRules("/counters/", "/tallies/")],
  ["error rules-policy", /top of Tally's/, setRules(/function isAllowedAmount\([^}]*\}/, "")],
  ["error rules-outdated", /below the policy/, setRules(/duration.value\(2, 'm'\)/, "duration.value(1, 'm')")],
  ["error rules-outdated", /below the policy/, setRules(/ && request.query.get\('offset', 0\) in \[null, 0\]/, "")],
  ["warning rules-allow-more", /remove it/, setRules(/allow get: if isOwnEntry\(once\);/, "$& allow list;")],
  ["error rules-open", /instead of a wildcard/, setRules("/posts/{post}", "/{any}/{document=**}")],
  [
    "warning rules-overlap",
    /instead of a wildcard/,
    setRules(/match \/posts[^}]*\}[^}]*\}/, "match /{d=**} { allow write: if isOperator(); }"),
  ],

  ["error functions-missing", /deploy --only functions/, change(paths.functions, { functions: [] })],
  [
    "error functions-elsewhere",
    /DATABASE_ID/,
    (resources) => {
      for (const { eventTrigger } of functionsIn(resources)) {
        for (const one of eventTrigger?.eventFilters ?? []) if (one.attribute === "database") one.value = "eu";
      }
    },
  ],
  [
    "error functions-incomplete",
    /deploy --only functions/,
    (resources) =>
      functionsIn(resources).splice(functionsIn(resources).indexOf(functionIn(resources, "baseupdated")), 1),
  ],
  ["error function-state", /functions:log/, changeFunction("shardcreated", { state: "FAILED" })],
  [
    "error function-retry",
    /retries/,
    changeFunction("shardcreated", { retryPolicy: "RETRY_POLICY_DO_NOT_RETRY" }, "eventTrigger"),
  ],
  [
    "error function-trigger",
    /together/,
    (resources) => {
      functionIn(resources, "shardzeroupdated").eventTrigger.eventFilters[2].value = "counters/{counterId}/shards/1";
    },
  ],
  [
    "warning functions-twice",
    /uninstall/,
    (resources) => {
      const kit = structuredClone(functionsIn(resources));
      for (const one of kit) one.name = one.name.replace("tally-", "kit-main-");
      functionsIn(resources).push(...kit);
    },
  ],
  [
    "error trigger-region",
    /DATABASE_REGION/,
    changeFunction("shardcreated", { triggerRegion: "eur3" }, "eventTrigger"),
  ],
  [
    "error region-far",
    /europe-west1/,
    (resources) => {
      resources[paths.database].locationId = "eur3";
      for (const { eventTrigger } of functionsIn(resources)) if (eventTrigger) eventTrigger.triggerRegion = "eur3";
    },
  ],
  ["error region-queue", /old region/, setParameters({ LOCATION: "europe-west1" })],
  ["error runtime", /nodejs24/, changeFunction("shardcreated", { runtime: "nodejs20" }, "buildConfig")],

  ["error parameters-invalid", /\.env/, setParameters({ MIN_SHARDS: "200", MAX_SHARDS: "100" })],
  ["error parameters-invalid", /\.env/, setParameters({ MIRRORS: "likes=counters/{name}.likes" })],
  ["error parameters-invalid", /\.env/, setParameters({ INGEST_ORIGINS: "example.com" })],
  ["error parameters-invalid", /\.env/, setParameters({ TOTALS_COUNTERS: "*" })],
  [
    "error parameters-differ",
    /together/,
    (resources) =>
      Object.assign(functionIn(resources, "sweep").serviceConfig.environmentVariables, { PRECISION: "0.1" }),
  ],
  ["warning shards-fixed", /raise MAX_SHARDS/, setParameters({ MAX_SHARDS: "1" })],
  ["warning shards-minimum", /ensureCounter/, setParameters({ MIN_SHARDS: "5" })],

  ["error queue-missing", /deploy --only functions/, remove(paths.queue)],
  ["error queue-stopped", /queues resume/, change(paths.queue, { state: "PAUSED" })],
  [
    "warning queue-limits",
    /deploy/,
    change(paths.queue, { rateLimits: { maxDispatchesPerSecond: 5, maxConcurrentDispatches: 500 } }),
  ],
  ["error tasks-failing", /services add-iam-policy-binding tally-aggregate .*run\.invoker/, failTasks(12, 7)],
  ["error tasks-failing", /services add-iam-policy-binding tally-aggregate .*run\.invoker/, failTasks(12, 16)],
  ["error tasks-failing", /does not exist: run `firebase deploy/, failTasks(3, 5)],
  ["error tasks-failing", /MAX_INSTANCES/, failTasks(5, 8, "exchange")],
  ["error tasks-failing", /the log of tally-aggregate/, failTasks(5, 13)],
  [
    "warning role-missing",
    /add-iam-policy-binding demo-planted .*roles\/cloudtasks.enqueuer/,
    (resources) => resources[paths.projectPolicy].bindings.splice(1, 1),
  ],
  ["warning role-missing", /service-accounts add-iam-policy-binding/, change(paths.accountPolicy, { bindings: [] })],
  [
    "warning role-missing",
    /add-iam-policy-binding demo-planted .*roles\/pubsub.publisher/,
    (resources) => {
      setParameters({ EVENTS_TOPIC: "tally-log" })(resources);
      resources[topic] = { bindings: [] };
    },
  ],
  ["error sweep-missing", /deploy --only functions/, remove(paths.job)],
  ["error sweep-stopped", /jobs resume/, change(paths.job, { state: "PAUSED" })],
  ["warning sweep-failing", /log/, change(paths.job, { status: { code: 13 } })],

  ["error index-missing", /firestore:indexes/, (resources) => resources[paths.indexes].indexes.pop()],
  ["warning index-building", /wait/, setIndex(2, "CREATING")],
  ["warning index-broken", /delete it/, setIndex(2, "NEEDS_REPAIR")],
  [
    "warning fields-indexed",
    /firestore:indexes/,
    (resources) => {
      const { fields } = resources[paths.fields];
      resources[paths.fields].fields = fields.filter(({ name }: Resource) => !name.endsWith("/shards/fields/at"));
    },
  ],
  [
    "warning index-missing",
    /firestore:indexes/,
    (resources) => {
      const { fields } = resources[paths.fields];
      resources[paths.fields].fields = fields.filter(
        ({ name }: Resource) => !name.endsWith("/tallyEntries/fields/once"),
      );
    },
  ],
  [
    "warning ttl",
    /firestore:indexes/,
    (resources) => {
      delete resources[paths.fields].fields.find(({ name }: Resource) => name.includes("/tallyReceipts/")).ttlConfig;
    },
  ],
  ["warning app-check", /enable-enforcement/, change(paths.appCheck, { enforcementMode: "UNENFORCED" })],
])("finds %s, and nothing else; the remedy is %s", async (what, remedy, plant) => {
  plant(apis.resources);
  const found = await examine();
  expect(found.map(({ severity, id }) => `${severity} ${id}`)).toEqual([what]);
  expect(found[0]?.remedy).toMatch(remedy);
});

test("finds nothing on a healthy project, sees all, and writes nothing: requests are GET, or ask for a policy", async () => {
  apis.requests.length = 0;
  const facts = await readFacts();
  expect([findingsOf(facts), unseenOf(facts)]).toEqual([[], []]);
  expect(apis.requests.length).toBeGreaterThan(10);
  for (const request of apis.requests) expect(request).toMatch(/^GET |^POST .*:getIamPolicy$/);
});

test("finds that rules and functions are those of another collection", async () => {
  const found = await examine({ ...target, collection: "tallies" });
  expect(found.filter(({ id }) => /^rules|^functions/.test(id))).toMatchObject([
    { id: "rules-without-counters" },
    { id: "functions-elsewhere", remedy: expect.stringContaining("COLLECTION") },
  ]);
});

test("what is forbidden is not seen, and not taken for missing", async () => {
  for (const path of Object.values(paths)) apis.resources[path] = null;
  const facts = await readFacts();
  expect(findingsOf(facts)).toEqual([]);
  const reasons = Object.fromEntries(unseenOf(facts).map(({ part, reason }) => [part, reason]));
  expect(reasons.rules).toContain("The caller does not have permission");
  expect(Object.keys(reasons)).toEqual(expect.arrayContaining(["functions", "task queue", "indexes", "App Check"]));
});

test("where a call is refused, the report names the permission that it needs", async () => {
  for (const path of [paths.queue, paths.tasks]) apis.resources[path] = null;
  const facts = await readFacts();
  expect(findingsOf(facts)).toEqual([]);
  expect(unseenOf(facts)).toEqual(
    [
      ["task queue", "cloudtasks.queues.get"],
      ["last attempts of tasks", "cloudtasks.tasks.list"],
    ].map(([part, needed]) => ({ part, reason: expect.stringMatching(`permission; it needs ${needed}$`) })),
  );
});

test("without credentials nothing is asked", async () => {
  const nowhere = { TALLY_GOOGLE_APIS: undefined, GOOGLE_APPLICATION_CREDENTIALS: undefined, HOME: tmpdir() };
  const others = { CLOUDSDK_CONFIG: tmpdir(), METADATA_SERVER_DETECTION: "none" };
  for (const [name, value] of Object.entries({ ...nowhere, ...others })) vi.stubEnv(name, value);
  await expect(connectApis(PROJECT)).rejects.toThrow(/credential/i);
});

test("finds a log of increments with `once` whose collection is another one; the topic may grant the role", async () => {
  const policy = structuredClone(apis.resources[paths.accountPolicy]);
  policy.bindings[0].role = "roles/pubsub.publisher";
  apis.resources[topic] = policy;
  setParameters({ EVENTS_TOPIC: "tally-log", EVENTS_COLLECTION: "likes" })(apis.resources);
  functionIn(apis.resources, "logincrements").eventTrigger.eventFilters[2].value =
    "likes/{counterId}/tallyEntries/{once}";
  expect(await examine()).toMatchObject([{ id: "events-elsewhere", remedy: expect.stringContaining("_none") }]);
});
