/** Which functions a deployment has, as the Firebase CLI resolves them from the parameters, without questions. */
import { createRequire } from "node:module";
import { afterEach, expect, test, vi } from "vitest";
import { textParam } from "./cliParams.ts";
import { COUNTING_DEFAULTS, INSTANCE_DEFAULTS, PARAMETERS } from "./parameters.ts";

const require = createRequire(import.meta.url);
const { extractStack } = require("../../../node_modules/firebase-functions/lib/runtime/loader.js");
const { globalManifest, stackToWire } = require("../../../node_modules/firebase-functions/lib/runtime/manifest.js");
const { resolveBackend } = require("firebase-tools/lib/deploy/functions/build.js");
const { buildFromV1Alpha1 } = require("firebase-tools/lib/deploy/functions/runtimes/discovery/v1alpha1.js");

const PROJECT = "demo-tally";

afterEach(() => vi.unstubAllEnvs());

/**
 * The functions of a deployment: the names of all, and of those that anyone on the internet may call; the APIs that it needs besides; the
 * accounts of the functions, and the roles of the account that the CLI creates.
 */
async function deployed(packaging: "plain codebase" | "kit", values: Record<string, string>) {
  vi.stubEnv("GCLOUD_PROJECT", PROJECT);
  vi.stubEnv("EXT_INSTANCE_ID", undefined);
  vi.stubEnv("FIREBASE_KIT_INSTANCE_ID", packaging === "kit" ? "main" : undefined);
  vi.stubEnv("FUNCTIONS_CONTROL_API", "true");
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
  vi.resetModules();
  delete globalManifest.requiredRoles;
  const [endpoints, requiredAPIs] = [{}, [] as object[]];
  extractStack({ ...(await import("../index.ts")) }, endpoints, requiredAPIs, {});
  const declared = Object.keys(PARAMETERS).map((name) => (textParam(name) as unknown as { toSpec(): object }).toSpec());
  const { requiredRoles } = globalManifest;
  const manifest = stackToWire({ specVersion: "v1alpha1", requiredAPIs, requiredRoles, params: declared, endpoints });
  const { backend } = await resolveBackend({
    build: buildFromV1Alpha1(manifest, PROJECT, "us-central1", "nodejs24"),
    firebaseConfig: { projectId: PROJECT },
    userEnvs: { ...COUNTING_DEFAULTS, ...INSTANCE_DEFAULTS, ...values },
    nonInteractive: true,
  });
  type Endpoint = { httpsTrigger?: { invoker?: string[] }; serviceAccount: string | null };
  const all = Object.entries<Endpoint>(backend.endpoints["us-central1"]);
  const names = (some: typeof all) => some.map(([id]) => id.replace(/^tally-/, "")).toSorted();
  const apis: string[] = backend.requiredAPIs.map(({ api }: { api: string }) => api);
  return {
    functions: names(all),
    open: names(all.filter(([, { httpsTrigger }]) => httpsTrigger)),
    apis: new Set(apis),
    accounts: [...new Set(all.map(([, { serviceAccount }]) => serviceAccount))],
    roles: backend.requiredRoles?.map((role: string) => role.replace("roles/", "")),
  };
}

/** The CLI adds those that every deployment of functions needs. */
const APIS = new Set(["cloudtasks.googleapis.com", "cloudscheduler.googleapis.com"]);

/** Without `SERVICE_ACCOUNT` the CLI creates an account with these. */
const ROLES = ["datastore.user", "cloudtasks.enqueuer", "eventarc.eventReceiver", "run.invoker"];
const ACT_AS = "iam.serviceAccountUser";

const COUNTER = ["aggregate", "baseupdated", "shardcreated", "shardzeroupdated", "sweep"];

test.each(["plain codebase", "kit"] as const)(
  "a counter alone has five functions, none of them public: %s",
  async (packaging) => {
    expect(await deployed(packaging, {})).toEqual({
      ...{ functions: COUNTER, open: [], apis: APIS, accounts: [null] },
      // A kit's tasks bring a token of their own.
      roles: packaging === "kit" ? ROLES : ROLES.toSpliced(2, 0, ACT_AS),
    });
  },
);

test("an account of one's own gets no roles", async () => {
  const account = "tally@shop.iam.gserviceaccount.com";
  expect(await deployed("plain codebase", { SERVICE_ACCOUNT: account })).toMatchObject({
    accounts: [account],
    roles: undefined,
  });
});

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
  [{ MIRRORS: "likes=posts/{name}.likes", WINDOWS: "likes", HISTORY: "*" }, []],
];

test.each(FEATURES)("%j adds %j", async (values, functions, open = []) => {
  const { roles, ...others } = await deployed("plain codebase", values);
  expect(others).toEqual({ functions: [...COUNTER, ...functions].toSorted(), open, apis: APIS, accounts: [null] });
  expect(roles.includes("pubsub.publisher")).toBe("EVENTS_TOPIC" in values);
});
