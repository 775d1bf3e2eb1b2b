/**
 * The app of a new user, deployed by the real Firebase CLI against a fake of Google's APIs: everything is created, and nothing looks
 * wrong. The faults that the fake finds are in testkit/rehearsal/fakeApis.test.ts.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { FUNCTIONS, neededRoles } from "../../functions/src/decisions.ts";
import { CLI } from "../../testkit/cli.ts";
import { PROJECT } from "../../testkit/emulators/firebase.ts";
import { installKit } from "../../testkit/emulators/kit/install.ts";
import { copyApp } from "../../testkit/rehearsal/appCopy.ts";
import {
  type Rehearsal,
  type RehearsalOptions,
  type Report,
  startRehearsal,
} from "../../testkit/rehearsal/rehearsal.ts";
import type { Scenario } from "../../testkit/rehearsal/scenario.ts";

const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "tally-rehearsals-"));
const packages = join(scratch, "packages");
/** `tally/node_modules`, installed once. */
const installed = join(scratch, "installed");

beforeAll(async () => {
  mkdirSync(packages);
  await run("npm", ["pack", "--workspace", "client", "--workspace", "functions", "--pack-destination", packages]);
  const app = await createApp();
  await run("npm", ["install", "--prefix", join(app, "tally")]);
  copyApp(join(app, "tally/node_modules"), installed);
  return () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

/** An app after `init`, its functions not installed. */
async function createApp(...options: string[]): Promise<string> {
  const app = mkdtempSync(join(scratch, "app-"));
  const manifest = { name: "app", private: true, dependencies: { firebase: "^12.0.0" } };
  writeFileSync(join(app, "package.json"), JSON.stringify(manifest));
  const from = options.includes("kit") ? [] : ["--packages", packages];
  await run(process.execPath, [CLI, "init", "--yes", ...from, ...options], { cwd: app });
  return app;
}

interface Setting {
  readonly scenario?: Partial<Scenario>;
  /** Parameters of the functions. */
  readonly parameters?: Record<string, string>;
}

/** Starts a rehearsal with an app whose functions are installed. */
async function rehearse(app: string, { scenario = {}, parameters }: Setting = {}): Promise<Rehearsal> {
  copyApp(installed, join(app, "tally/node_modules"));
  for (const [name, value] of Object.entries(parameters ?? {})) setParameter(join(app, "tally/.env"), name, value);
  return start({ folder: app, scenario });
}

async function start(options: RehearsalOptions): Promise<Rehearsal> {
  const rehearsal = await startRehearsal(options);
  onTestFinished(() => rehearsal.close());
  return rehearsal;
}

function setParameter(file: string, name: string, value: string): void {
  const line = new RegExp(`^${name}=.*$`, "m");
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(line);
  writeFileSync(file, text.replace(line, `${name}=${value}`));
}

/** A failure shows what the CLI printed. */
function expectCreated(report: Report, functions: number): void {
  const { exitCode, problems, printed, changes } = report;
  expect({ exitCode, problems }, printed).toEqual({ exitCode: 0, problems: [] });
  expect(changes).toEqual({ created: functions, updated: 0, deleted: 0 });
}

/** How many functions a counter needs. */
const NEEDED = 5;

test("an app after init is deployed: five functions, a queue, a job, rules, indexes, and one upload", async () => {
  const { deploy } = await rehearse(await createApp("--location", "nam5"));
  const report = await deploy();
  expectCreated(report, NEEDED);
  expect(report.queues).toEqual(["tally-aggregate (us-central1): 500/s, 200 at a time, 100 attempts"]);
  const [account] = report.createdAccounts;
  expect(new Set(report.functions.map((one) => one.account))).toEqual(new Set([account]));
  expect(report.jobs).toEqual([expect.stringContaining(`as "${account}"`)]);
  for (const role of neededRoles({}, false).keys())
    expect(report.roles).toContain(`${role}: serviceAccount:${account}`);
  expect(report.publicFunctions).toEqual([]);
  expect(report.rules).toHaveLength(1);
  expect(report.uploads).toHaveLength(1);
  const { indexes, fieldOverrides } = JSON.parse(readFileSync("firestore.indexes.json", "utf8"));
  expect(report.indexes).toBe(indexes.length);
  expect(report.exemptions).toBe(fieldOverrides.length);
});

const EVERY_FEATURE = {
  ...{
    VISITORS: "yes",
    ITEMS: "yes",
    REGIONS: "us=demo-app/(default), eu=demo-eu/(default)",
    ADOPTED: "yes",
    TOTALS_COUNTERS: "views:*",
  },
  ...{ COUNTED_COLLECTION: "posts/{post}/comments", MIRRORS: "comments=posts/{name}.comments" },
  ...{ BRIDGE: "visits=pages/{name}.visits", INGEST_COUNTERS: "views:*", INGEST_TOPIC: "tally-events" },
  ...{ EVENTS_TOPIC: "tally-log", EVENTS_COLLECTION: "counters" },
};

const TO_PUBLISH = "cloudfunctions.functions.setIamPolicy";

/** https://github.com/firebase/firebase-tools/issues/1119 */
const CONFLICT = { match: /^POST firestore.*\/indexes$/, status: 409, message: "index already exists", times: 1 };

const at = (locationId: string) => ({ databases: { "(default)": { locationId } } });

describe("deployed", { tags: "nightly" }, () => {
  test.each<[title: string, options: string[], setting: Setting, functions: number]>([
    ["to a database in eur3", ["--location", "eur3"], { scenario: at("eur3") }, NEEDED],
    ["to a database that the CLI creates in eur3", ["--location", "eur3"], { scenario: { databases: {} } }, NEEDED],
    [
      "to a named database",
      ["--database", "shop", "--location", "nam5"],
      { scenario: { databases: { ...at("nam5").databases, shop: { locationId: "nam5" } } } },
      NEEDED,
    ],
    [
      "to the Enterprise edition",
      ["--edition", "enterprise"],
      { scenario: { databases: { "(default)": { locationId: "us-central1", databaseEdition: "ENTERPRISE" } } } },
      NEEDED,
    ],
    ["with every feature", ["--visitors", "views"], { parameters: EVERY_FEATURE }, FUNCTIONS.size],
  ])("%s", async (_, options, setting, functions) => {
    const { deploy } = await rehearse(await createApp(...options), setting);
    expectCreated(await deploy(), functions);
  });

  test("as a kit, installed by the code of the CLI", async () => {
    const app = await createApp("--as", "kit");
    await installKit(app);
    const { deploy } = await start({ folder: app, project: PROJECT });
    expectCreated(await deploy(), NEEDED);
  });

  test("from a fresh clone, as CI does", async () => {
    const app = await createApp();
    const git = (...args: string[]) =>
      run("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: app });
    await git("init");
    await git("add", ".");
    await git("commit", "-m", "app");
    await git("clone", app, join(app, "clone"));
    const { deploy } = await start({ folder: join(app, "clone") });
    expectCreated(await deploy(), NEEDED);
  });

  test("again, changes nothing; and a lost queue comes back with --only functions:tally", async () => {
    const { deploy, cloud } = await rehearse(await createApp());
    expectCreated(await deploy(), NEEDED);
    expectCreated(await deploy(), 0);
    cloud.queues.clear();
    expect((await deploy()).problems).toContainEqual(expect.stringContaining("tally-aggregate has no queue"));
    const { problems, queues } = await deploy("--only", "functions:tally");
    expect(problems).toEqual([]);
    expect(queues).toHaveLength(1);
  });

  test("with an account of one's own, which lacks a role", async () => {
    const account = "tally@demo-app.iam.gserviceaccount.com";
    const accounts = { [account]: ["roles/datastore.user"] };
    const parameters = { SERVICE_ACCOUNT: account };
    const { deploy } = await rehearse(await createApp(), { parameters, scenario: { accounts } });
    const { exitCode, problems, createdAccounts } = await deploy();
    expect([exitCode, createdAccounts]).toEqual([0, []]);
    expect(problems.join("\n")).toMatch(/the functions' account, lacks roles\/cloudtasks.enqueuer/);
  });

  test.each<[fault: string, setting: Setting, found: RegExp]>([
    ["LOCATION is a multi-region", { parameters: { LOCATION: "nam5" } }, /LOCATION is "nam5"; set it to us-central1/],
    ["SERVICE_ACCOUNT is half an email", { parameters: { SERVICE_ACCOUNT: "tally@" } }, /the whole email/],
    [
      "the user may not make a function public",
      { parameters: { TOTALS_COUNTERS: "views:*" }, scenario: { missingPermissions: [TO_PUBLISH] } },
      new RegExp(TO_PUBLISH),
    ],
    ["an index exists already", { scenario: { failures: [CONFLICT] } }, /index already exists/],
  ])("not, if %s", async (_, setting, found) => {
    const { deploy } = await rehearse(await createApp(), setting);
    const { exitCode, problems } = await deploy();
    expect(exitCode).not.toBe(0);
    expect(problems.join("\n")).toMatch(found);
  });
});
