/**
 * The kit as a user gets it: the packed package, installed by the code of firebase-tools in place of an extension, whose configuration
 * is exported first. `npm run emulators -- --as kit` installs it afresh, for the tests of the whole way of an increment.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { FUNCTIONS } from "../../functions/src/decisions.ts";
import { textParam } from "../../functions/src/deploy/cliParams.ts";
import { PARAMETERS } from "../../functions/src/deploy/parameters.ts";
import { PROJECT } from "../../testkit/emulators/firebase.ts";
import type { InstalledKit } from "../../testkit/emulators/kit/install.ts";
import { createProject, type Project } from "../../testkit/emulators/project.ts";

const NOT_IN_EXTENSION = Object.keys(PARAMETERS).filter((name) => PARAMETERS[name]?.isNotInExtension);

const require = createRequire(import.meta.url);
const manifest: { params: { param: string; default: string }[] } = parse(readFileSync("extension.yaml", "utf8"));

/** The parameters that the CLI asked for. */
function askedFor({ questions }: InstalledKit): string[] {
  return questions.flatMap(({ message }) => /value for (\w+):/.exec(message)?.[1] ?? []);
}

/** The parameters of the instance, as the CLI reads them. */
function storedParameters(project: Project): Record<string, string> {
  const { loadUserEnvs } = require("firebase-tools/lib/functions/env.js");
  const { configFolder = "" } = project.kit ?? {};
  return loadUserEnvs({
    configDir: configFolder,
    functionsSource: configFolder,
    projectDir: project.folder,
    projectId: PROJECT,
  });
}

/** What a user has set in the extension: every parameter, to another value than its default. */
const configured: Record<string, string> = {
  EDITION: "enterprise",
  COLLECTION: "tallies",
  DATABASE_ID: "shop",
  LOCATION: "europe-west1",
  DATABASE_REGION: "eur3",
  MIN_SHARDS: "2",
  MAX_SHARDS: "50",
  WRITES_PER_SHARD: "0.5",
  SHRINK_COOLDOWN_SECONDS: "900",
  MIN_INTERVAL_SECONDS: "2",
  MAX_INTERVAL_SECONDS: "20",
  PRECISION: "0.01",
  DIRECT: "no",
  COUNTED_COLLECTION: "posts/{post}/comments",
  MIRRORS: "likes=posts/{name}.likes, views=pages/{name}.stats.views",
  VISITORS: "ingest",
  ITEMS: "yes",
  WINDOWS: "likes",
  HISTORY: "*",
  HISTORY_DAYS: "7",
  TIME_ZONE: "Asia/Kolkata",
  BRIDGE: "visits=sites/{name}.visits",
  REGIONS: "eu=shop",
  EXCHANGE_SECONDS: "5",
  INGEST_COUNTERS: "views:*",
  INGEST_ORIGINS: "https://example.com",
  INGEST_APP_CHECK: "yes",
  INGEST_MAX_AMOUNT: "5",
  INGEST_AMOUNT_PER_SECOND: "20",
  INGEST_TOPIC: "shop-events",
  EVENTS_TOPIC: "shop-log",
  EVENTS_COLLECTION: "tallies",
  TOTALS_COUNTERS: "views:*",
};

/** What a user has set for its functions (https://firebase.google.com/docs/extensions/publishers/parameters#system-params). */
const system = {
  location: "europe-west1",
  memory: "1024",
  timeoutSeconds: "120",
  maxInstances: "7",
  minInstances: "1",
  vpcConnector: "projects/demo-tally/locations/europe-west1/connectors/inner",
  vpcConnectorEgressSettings: "ALL_TRAFFIC",
  ingressSettings: "ALLOW_INTERNAL_ONLY",
  labels: "team:shop,cost:counters",
};

describe("in place of an extension", () => {
  const { functionsEnvFromInstance } = require("firebase-tools/lib/extensions/export.js");
  let exported: Record<string, string>;
  let project: Project;
  let kit: InstalledKit;

  beforeAll(async () => {
    const { getLocalExtensionSpec } = require("firebase-tools/lib/extensions/localHelper.js");
    const systemParams = Object.entries(system).map(([name, value]) => [
      `firebaseextensions.v1beta.function/${name}`,
      value,
    ]);
    exported = functionsEnvFromInstance({
      name: `projects/${PROJECT}/instances/tally`,
      config: {
        params: configured,
        systemParams: Object.fromEntries(systemParams),
        source: { spec: await getLocalExtensionSpec(resolve(".")) },
        allowedEventTypes: ["firestore-tally.v1.drift"],
        eventarcChannel: "projects/demo-tally/locations/europe-west1/channels/firebase",
      },
    });
    project = await createProject("kit", {}, { exported });
    kit = project.kit as InstalledKit;
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => project.remove());

  test("its dependencies are locked: the CLI asks about the publisher alone", () => {
    expect(kit.printed).toContain("is a third-party kit");
    expect(kit.printed).not.toContain("shrinkwrap");
    const confirmations = kit.questions.filter(({ message }) => message.startsWith("Are you sure"));
    expect(confirmations).toEqual([
      { message: "Are you sure you want to install the third-party kit firestore-tally-kit?", default: false },
    ]);
  });

  test("it runs in the versions that the tests of this repository run with", () => {
    const folder = join(kit.sourceFolder, "node_modules/firestore-tally-kit");
    const { dependencies } = JSON.parse(readFileSync("functions/package.json", "utf8"));
    for (const name of Object.keys(dependencies)) {
      const version = (path: string) => JSON.parse(readFileSync(join(path, "package.json"), "utf8")).version;
      expect([name, version(join(folder, "node_modules", name))]).toEqual([name, version(`node_modules/${name}`)]);
    }
  });

  test("this test sets each parameter of extension.yaml to another value than its default", () => {
    expect(Object.keys(configured).toSorted()).toEqual(manifest.params.map(({ param }) => param).toSorted());
    for (const { param, default: value } of manifest.params)
      expect([param, configured[param]]).not.toEqual([param, value]);
  });

  test("every parameter arrives, and the CLI asks for those alone that the extension does not have", () => {
    expect(askedFor(kit)).toEqual(NOT_IN_EXTENSION);
    const stored = storedParameters(project);
    expect(stored).toMatchObject({ ...exported, ...configured });
    for (const [name, value] of Object.entries(stored)) vi.stubEnv(name, value);
    for (const name of Object.keys(PARAMETERS))
      if (!NOT_IN_EXTENSION.includes(name))
        expect([name, `${textParam(name).value()}`]).toEqual([name, configured[name]]);
  });

  test("its functions are deployed with what was set for the extension's", async () => {
    const endpoints = await deployedEndpoints(project);
    // An extension has no parameter ADOPTED, so the kit has its default.
    const expected = [...FUNCTIONS.keys()].filter((name) => name !== "shardupdated");
    expect(endpoints.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
    for (const { id, ...endpoint } of endpoints) {
      expect(endpoint, id).toMatchObject({
        region: "europe-west1",
        availableMemoryMb: 1_024,
        // The sweep has its own.
        timeoutSeconds: id === "sweep" ? 540 : 120,
        maxInstances: 7,
        minInstances: 1,
        vpc: { connector: system.vpcConnector, egressSettings: "ALL_TRAFFIC" },
        ingressSettings: "ALLOW_INTERNAL_ONLY",
        labels: { team: "shop", cost: "counters" },
      });
      // That of messages has no database.
      if (!endpoint.eventTrigger || id === "ingestmessages") continue;
      expect(endpoint.eventTrigger.eventFilters, id).toMatchObject({ database: "shop" });
      expect(endpoint.eventTrigger.eventFilterPathPatterns?.document, id).toMatch(
        /^(tallies\/|posts\/\{post\}\/comments\/|\{document=\*\*\}\/_counter_shards_\/)/,
      );
    }
  });
});

interface Endpoint {
  readonly id: string;
  readonly [option: string]: unknown;
  readonly eventTrigger?: {
    readonly eventFilters: Record<string, string>;
    readonly eventFilterPathPatterns?: { readonly document?: string };
  };
}

/** What `firebase deploy` makes of the installed kit, before it asks Google's servers for anything. */
async function deployedEndpoints(project: Project): Promise<Endpoint[]> {
  const { getRuntimeDelegate } = require("firebase-tools/lib/deploy/functions/runtimes/index.js");
  const { resolveBackend } = require("firebase-tools/lib/deploy/functions/build.js");
  const { allEndpoints } = require("firebase-tools/lib/deploy/functions/backend.js");
  const { loadFirebaseEnvs } = require("firebase-tools/lib/functions/env.js");
  const sourceDir = project.kit?.sourceFolder;
  const delegate = await getRuntimeDelegate({
    projectId: PROJECT,
    projectDir: project.folder,
    sourceDir,
    runtime: "nodejs24",
  });
  const userEnvs = storedParameters(project);
  const firebaseConfig = { projectId: PROJECT };
  const firebaseEnvs = loadFirebaseEnvs(firebaseConfig, PROJECT, "main");
  const build = await delegate.discoverBuild({}, { ...userEnvs, ...firebaseEnvs });
  const { backend } = await resolveBackend({ build, firebaseConfig, userEnvs, codebase: "main", nonInteractive: true });
  return allEndpoints(backend);
}
