/**
 * The fake of Google's APIs: a right deployment has no problem, and each fault is found. The requests are those of the CLI; what the CLI
 * itself makes of an app is in test/packaging/rehearsal.test.ts.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { COUNTING_DEFAULTS } from "../../functions/src/decisions.ts";
import { createCloud, DEFAULT_ACCOUNT } from "./cloud.ts";
import { recordedApis } from "./fakeApis.ts";
import { problemsOf } from "./problems.ts";
import { snapshotOf } from "./resources.ts";
import type { Body } from "./routes.ts";
import { DEFAULT_SCENARIO, type Scenario } from "./scenario.ts";

const ROOT = "projects/demo-app";
const AT = `${ROOT}/locations/us-central1`;
const DATABASE = `${ROOT}/databases/(default)`;
const FIRESTORE = "firestore.googleapis.com";
const FUNCTIONS = "cloudfunctions.googleapis.com";

/** Requests by a name, so that a test can change one or leave it out. */
type Requests = Record<string, [method: string, host: string, path: string, body: Body]>;

const bytesOf = (body: Body) => (body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body)));

/** @param location  of the database, which the CLI asks for */
function rightDeployment(location: string): Requests {
  const requests: Requests = {};
  const deploy = (name: string, document?: string, label?: string) => {
    const filters = { database: "(default)", document: `counters/{counterId}/shards/${document}` };
    const eventTrigger = {
      ...{ eventType: "google.cloud.firestore.document.v1.created", triggerRegion: location },
      ...{ retryPolicy: "RETRY_POLICY_RETRY" },
      eventFilters: Object.entries(filters).map(([attribute, value]) => ({ attribute, value })),
    };
    requests[name] = [
      ...(["POST", FUNCTIONS, `/v2/${AT}/functions`] as const),
      {
        name: `${AT}/functions/tally-${name}`,
        buildConfig: { runtime: "nodejs24", entryPoint: name },
        serviceConfig: { availableMemory: "512Mi", environmentVariables: { ...COUNTING_DEFAULTS } },
        ...(label ? { labels: { [label]: "true" } } : { eventTrigger }),
      },
    ];
  };
  const { indexes, fieldOverrides } = JSON.parse(readFileSync("firestore.indexes.json", "utf8"));
  const rules = readFileSync("firestore.rules", "utf8");
  const release = { name: `${ROOT}/releases/cloud.firestore`, rulesetName: `${ROOT}/rulesets/ruleset-1` };
  requests.ruleset = [
    "POST",
    "firebaserules.googleapis.com",
    `/v1/${ROOT}/rulesets`,
    { source: { files: [{ content: rules }] } },
  ];
  requests.release = ["POST", "firebaserules.googleapis.com", `/v1/${ROOT}/releases`, release];
  for (const { collectionGroup, queryScope, fields } of indexes) {
    const path = `/v1/${DATABASE}/collectionGroups/${collectionGroup}/indexes`;
    requests[`index ${JSON.stringify([collectionGroup, fields])}`] = ["POST", FIRESTORE, path, { queryScope, fields }];
  }
  for (const { collectionGroup, fieldPath, indexes: own, ttl } of fieldOverrides) {
    const path = `/v1/${DATABASE}/collectionGroups/${collectionGroup}/fields/${fieldPath}`;
    const indexConfig = {
      indexes: own.map(({ queryScope, order }: Body) => ({ queryScope, fields: [{ fieldPath, order }] })),
    };
    requests[`field ${collectionGroup} ${fieldPath}`] = [
      "PATCH",
      FIRESTORE,
      path,
      { indexConfig, ttlConfig: ttl && {} },
    ];
  }
  deploy("shardcreated", "{shardId}");
  deploy("shardzeroupdated", "0");
  deploy("baseupdated", "base");
  deploy("aggregate", undefined, "deployment-taskqueue");
  deploy("sweep", undefined, "deployment-scheduled");
  requests.queue = [
    ...(["POST", "cloudtasks.googleapis.com", `/v2/${AT}/queues`] as const),
    {
      name: `${AT}/queues/tally-aggregate`,
      rateLimits: { maxConcurrentDispatches: 200, maxDispatchesPerSecond: 500 },
      retryConfig: { maxAttempts: 100 },
    },
  ];
  requests.job = [
    ...(["POST", "cloudscheduler.googleapis.com", `/v1/${AT}/jobs`] as const),
    {
      name: `${AT}/jobs/firebase-schedule-tally-sweep-us-central1`,
      ...{ schedule: "every 5 minutes", timeZone: "UTC" },
      httpTarget: { uri: "https://example.com", oidcToken: { serviceAccountEmail: DEFAULT_ACCOUNT } },
    },
  ];
  return requests;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tally-rehearsal-"));
  return () => rmSync(folder, { recursive: true });
});

async function problemsAfter(
  scenario: Partial<Scenario>,
  change: (all: Requests) => unknown = () => {},
  firestore: object = {},
): Promise<string> {
  writeFileSync(join(folder, "firebase.json"), JSON.stringify({ firestore }));
  const cloud = createCloud("demo-app", { ...DEFAULT_SCENARIO, ...scenario });
  const answer = recordedApis(cloud);
  const before = snapshotOf(cloud);
  const requests = rightDeployment(cloud.scenario.databases["(default)"]?.locationId ?? "");
  change(requests);
  for (const [method, host, url, sent] of Object.values(requests)) {
    answer({ method, host, url, bytes: bytesOf(sent) });
  }
  return (await problemsOf(cloud, folder, { exitCode: 0, printed: "", before })).join("\n");
}

test("a right deployment has no problem", async () => {
  expect(await problemsAfter({})).toBe("");
});

/** The body of a request, to be changed. */
const bodyOf = (all: Requests, name: string) => all[name]?.[3];
const move = (all: Requests, name: string, region: string) =>
  Object.assign(bodyOf(all, name), { name: bodyOf(all, name).name.replace("us-central1", region) });
const runAs = (all: Requests, name: string, serviceAccountEmail: string) =>
  Object.assign(bodyOf(all, name).serviceConfig, { serviceAccountEmail });
const callAs = (all: Requests, serviceAccountEmail: string) =>
  Object.assign(bodyOf(all, "job").httpTarget.oidcToken, { serviceAccountEmail });
const listen = (all: Requests, trigger: object) => Object.assign(bodyOf(all, "shardcreated").eventTrigger, trigger);
const rename = (all: Requests, name: string, path: string) => Object.assign(all[name] ?? [], { 2: path });
const repeat = (all: Requests, name: string) => Object.assign(all, { again: structuredClone(all[name]) });
const remove = (all: Requests, name: string) => delete all[name];
const open = (all: Requests, name: string) => {
  const policy = { bindings: [{ role: "roles/run.invoker", members: ["allUsers"] }] };
  all.public = ["POST", "run.googleapis.com", `/v1/${AT}/services/tally-${name}:setIamPolicy`, { policy }];
};

const upload = (all: Requests, files: Record<string, string>) => {
  const zip = zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));
  all.upload = ["PUT", "storage.googleapis.com", "/bucket/source.zip", zip];
};

const OWN = "own@demo-app.iam.gserviceaccount.com";
const INDEX = 'index ["shards",[{"fieldPath":"shard","order":"ASCENDING"}';
const indexOf = (all: Requests) => Object.keys(all).find((name) => name.startsWith(INDEX)) ?? "";
const TO_TARBALL = JSON.stringify({ dependencies: { a: "file:a.tgz" } });
const elsewhere = [{ attribute: "database", value: "shop" }];

const FAULTS: readonly [fault: string, found: RegExp, change: (all: Requests) => unknown][] = [
  ["a job without an account", /calls as "", which is not an email/, (all) => callAs(all, "")],
  ["a function without an account", /tally-sweep: its account is an empty text/, (all) => runAs(all, "sweep", "")],
  ["an account that is half an email", /its account tally@ is not an email/, (all) => runAs(all, "sweep", "tally@")],
  [
    "a managed account that is missing",
    /firebase-fn-1@.* may not exist/,
    (all) => runAs(all, "sweep", "firebase-fn-1@a.b"),
  ],
  ["a job that may not call", /calls as own@.*, which lacks roles\/run.invoker/, (all) => callAs(all, OWN)],
  ["a region that is none", /mars-west1 is no region/, (all) => move(all, "sweep", "mars-west1")],
  ["a multi-region as a region", /nam5 is a multi-region of Firestore/, (all) => move(all, "sweep", "nam5")],
  [
    "a queue in no region",
    /Location 'nam5' is not a valid location/,
    (all) => rename(all, "queue", `/v2/${ROOT}/locations/nam5/queues`),
  ],
  ["a job in no region", /Location 'nam5' is not a valid location/, (all) => move(all, "job", "nam5")],
  ["a missing queue", /tally-aggregate has no queue/, (all) => remove(all, "queue")],
  ["a missing job", /tally-sweep has no job/, (all) => remove(all, "job")],
  ["a trigger elsewhere", /The trigger is in eur3, and/, (all) => listen(all, { triggerRegion: "eur3" })],
  ["a trigger of no database", /The database shop does not exist/, (all) => listen(all, { eventFilters: elsewhere })],
  ["a public function that nothing asks for", /tally-aggregate is public/, (all) => open(all, "aggregate")],
  ["an index that exists", /index already exists/, (all) => repeat(all, indexOf(all))],
  ["a missing index, as by `doctor`", /index/, (all) => remove(all, indexOf(all))],
  ["a tarball that the upload lacks", /cannot install a.tgz/, (all) => upload(all, { "package.json": TO_TARBALL })],
  ["a request that the fake does not know", /has no answer to POST/, (all) => rename(all, "job", "/v9/jobs")],
];

test.each(FAULTS)("%s is found", async (_, found, change) => {
  expect(await problemsAfter({ accounts: { [OWN]: [] } }, change)).toMatch(found);
});

test.each<[fault: string, found: RegExp, scenario: Partial<Scenario>, firestore?: object]>([
  [
    "another location than the one meant",
    /declares location eur3, but the database is in nam5/,
    {},
    { location: "eur3" },
  ],
  ["a database that is named and does not exist", /the database shop of .* does not exist/, {}, [{ database: "shop" }]],
  ["a default account without rights", /lacks roles\/datastore.user/, { defaultAccountIsEditor: false }],
])("%s is found", async (_, found, scenario, firestore) => {
  expect(await problemsAfter(scenario, undefined, firestore)).toMatch(found);
});

test("a difference from the app's firebase.json is told once; one in the working folder is not read", async () => {
  const working = mkdtempSync(join(folder, "working-"));
  writeFileSync(join(working, "firebase.json"), JSON.stringify({ firestore: { location: "asia-east1" } }));
  vi.spyOn(process, "cwd").mockReturnValue(working);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await problemsAfter({}, undefined, { location: "nam5" })).toBe("");
  expect((await problemsAfter({}, undefined, { location: "eur3" })).split("\n")).toHaveLength(1);
});

test("an entry with a target names no database", async () => {
  expect(await problemsAfter({}, undefined, [{ target: "main", location: "eur3" }])).toBe("");
});

test("of an account that exists outside of the rehearsal, no role is missing", async () => {
  expect(await problemsAfter({}, (all) => runAs(all, "aggregate", OWN))).toBe("");
});

test("with public access forbidden, the policy of a public function is refused", async () => {
  const change = (all: Requests) => open(all, "aggregate");
  expect(await problemsAfter({ orgForbidsPublic: true }, change)).toContain("do not belong to a permitted customer");
});

test("functions deployed alone have no problem of rules and indexes", async () => {
  const isOfFirestore = (host: string) => host === FIRESTORE || host.startsWith("firebaserules.");
  const change = (all: Requests) => {
    for (const [name, [, host]] of Object.entries(all)) if (isOfFirestore(host)) remove(all, name);
  };
  expect(await problemsAfter({}, change)).toBe("");
});

test.each([
  ["service cloud.firestore { match /a/{b} { allow read; } }", 0],
  ["service cloud.firestore { match /a/{b} { allow read; }", 1],
])("rules that are not closed do not compile: %s", (content, issues) => {
  const answer = recordedApis(createCloud("demo-app", DEFAULT_SCENARIO));
  const bytes = bytesOf({ source: { files: [{ name: "firestore.rules", content }] } });
  const { body } = answer({ method: "POST", host: "firebaserules.googleapis.com", url: `/v1/${ROOT}:test`, bytes });
  expect(body.issues).toHaveLength(issues);
});
