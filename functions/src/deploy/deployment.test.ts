/** Which functions a deployment has, as the Firebase CLI resolves them from the parameters, without questions. */
import { createRequire } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import { params } from "./parameters.ts";
import { DEFAULT_PARAMETERS, INSTANCE_PARAMETERS } from "./parseConfig.ts";

const require = createRequire(import.meta.url);
const { extractStack } = require("../../../node_modules/firebase-functions/lib/runtime/loader.js");
const { stackToWire } = require("../../../node_modules/firebase-functions/lib/runtime/manifest.js");
const { resolveBackend } = require("firebase-tools/lib/deploy/functions/build.js");
const { buildFromV1Alpha1 } = require("firebase-tools/lib/deploy/functions/runtimes/discovery/v1alpha1.js");

const PROJECT = "demo-tally";

afterEach(() => vi.unstubAllEnvs());

/** The functions of a deployment: the names of all, and of those that anyone on the internet may call; the APIs that it needs besides. */
async function deployed(packaging: "plain codebase" | "kit", values: Record<string, string>) {
  vi.stubEnv("GCLOUD_PROJECT", PROJECT);
  vi.stubEnv("EXT_INSTANCE_ID", undefined);
  vi.stubEnv("FIREBASE_KIT_INSTANCE_ID", packaging === "kit" ? "main" : undefined);
  vi.resetModules();
  const [endpoints, requiredAPIs] = [{}, [] as object[]];
  extractStack({ ...(await import("../index.ts")) }, endpoints, requiredAPIs, {});
  const declared = Object.values(params).map((param) => (param as unknown as { toSpec(): object }).toSpec());
  const manifest = stackToWire({ specVersion: "v1alpha1", requiredAPIs, params: declared, endpoints });
  const { backend } = await resolveBackend({
    build: buildFromV1Alpha1(manifest, PROJECT, "us-central1", "nodejs22"),
    firebaseConfig: { projectId: PROJECT },
    userEnvs: { ...DEFAULT_PARAMETERS, ...INSTANCE_PARAMETERS, ...values },
    nonInteractive: true,
  });
  type Endpoint = { httpsTrigger?: { invoker?: string[] } };
  const all = Object.entries<Endpoint>(backend.endpoints["us-central1"]);
  const names = (some: typeof all) => some.map(([id]) => id.replace(/^tally-/, "")).toSorted();
  const apis: string[] = backend.requiredAPIs.map(({ api }: { api: string }) => api);
  return {
    functions: names(all),
    open: names(all.filter(([, { httpsTrigger }]) => httpsTrigger)),
    apis: new Set(apis),
  };
}

/** The CLI adds those that every deployment of functions needs. */
const APIS = new Set(["cloudtasks.googleapis.com", "cloudscheduler.googleapis.com"]);

const COUNTER = ["aggregate", "baseupdated", "shardcreated", "shardzeroupdated", "sweep"];

test.each(["plain codebase", "kit"] as const)(
  "a counter alone has five functions, none of them public: %s",
  async (packaging) => {
    expect(await deployed(packaging, {})).toEqual({ functions: COUNTER, open: [], apis: APIS });
  },
);

const FEATURES: readonly [parameters: Record<string, string>, functions: string[], open?: string[]][] = [
  [{ COUNTED_COLLECTION: "posts/{post}/comments" }, ["documentcreated", "documentdeleted"]],
  [{ ADOPTED: "yes" }, ["shardupdated"]],
  [{ BRIDGE: "views=pages/{name}.visits" }, ["legacyshardwritten"]],
  [{ VISITORS: "yes" }, ["merge", "mergevisitors"]],
  [{ ITEMS: "yes" }, ["merge", "mergeitems"]],
  [{ INGEST_COUNTERS: "views:*" }, ["ingest"], ["ingest"]],
  [{ INGEST_TOPIC: "tally-events" }, ["ingestmessages"]],
  [{ EVENTS_TOPIC: "tally-log" }, ["logevents"]],
  [{ EVENTS_TOPIC: "tally-log", EVENTS_COLLECTION: "counters" }, ["logevents", "logincrements"]],
  [{ TOTALS_COUNTERS: "views:*" }, ["totals"], ["totals"]],
  [{ REGIONS: "us=(default), eu=tally-eu" }, ["exchange"]],
  // They need no function of their own.
  [{ MIRRORS: "likes=posts/{name}.likes", HISTORY_DAYS: "7" }, []],
];

test.each(FEATURES)("%j adds %j", async (values, functions, open = []) => {
  expect(await deployed("plain codebase", values)).toEqual({
    functions: [...COUNTER, ...functions].toSorted(),
    open,
    apis: APIS,
  });
});
