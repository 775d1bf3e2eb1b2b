/**
 * `doctor` as a user runs it: on the emulators alone, and with a stand-in of Google's APIs for what they lack
 * (`testkit/googleApis.ts`). Its report, its exit codes, its cost. `doctorPlanted.test.ts` has the misconfigurations.
 */
import { tmpdir } from "node:os";
import { incrementCounter as increment, counter as webCounter } from "firestore-tally";
import { counter, incrementCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CLI, cliProject, startProgram } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import { explained } from "../../testkit/explained.ts";
import { type GoogleApis, healthyProject, healthyRules, pathsOf, serveGoogleApis } from "../../testkit/googleApis.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { meter } from "../../testkit/meter.ts";
import { loadRules } from "../../testkit/rules.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const SUITE = process.env.GCLOUD_PROJECT as string;
const PROJECT = "demo-doctor";
const paths = pathsOf(PROJECT);

interface Report {
  readonly findings: readonly { id: string; severity: string; problem: string; remedy: string }[];
  readonly unseen: readonly { part: string; reason: string }[];
  readonly [field: string]: unknown;
}

async function clear(project: string): Promise<void> {
  await fetch(`http://${host}/emulator/v1/projects/${project}/databases/(default)/documents`, { method: "DELETE" });
}

/** Runs `doctor --json`. */
async function doctor(project: string, env: Record<string, string | undefined>, ...args: string[]) {
  const { exitCode, stdout, stderr } = await startProgram(
    process.execPath,
    [CLI, "doctor", "--json", "--project", project, ...args],
    env,
  ).ended;
  if (stdout === "") throw new Error(`doctor printed no report: ${stderr.slice(0, 1_000)}`);
  return { exitCode, stderr, report: JSON.parse(stdout) as Report };
}

describe("on the emulators alone", () => {
  beforeAll(() => clear(SUITE));

  test("finds nothing where clients and servers count by the deployed rules and functions", async () => {
    const page = client();
    await increment(webCounter(page.db, "views:doctor"));
    await incrementCounter(counter(admin, "views:server"), 5);
    await until(async () => (await readPublished("views:doctor"))?.total === 1, "the total");
    await until(async () => (await readPublished("views:server"))?.total === 5, "the total of the server's counter");
    await page.close();

    const { exitCode, report } = await doctor(SUITE, {});
    expect(report.findings).toEqual([]);
    expect(exitCode).toBe(0);
    expect(report).toMatchObject({ errors: 0, warnings: 0, counters: 2, allCounters: true });
    const parts = report.unseen.map(({ part }) => part);
    for (const seen of ["rules", "functions", "counters"]) expect(parts).not.toContain(seen);
    expect(parts).toEqual(expect.arrayContaining(["indexes", "task queue", "query plan", "App Check"]));
  });

  test("prints the same for people, and what it could not see; --strict fails for that alone", async () => {
    const { stdout, exitCode } = await startProgram(process.execPath, [CLI, "doctor"], {}).ended;
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Nothing is wrong.");
    expect(stdout).toContain("- indexes: the emulator has no indexes");
    expect(stdout).toMatch(/Cost: \d+ reads\./);
    const strict = await doctor(SUITE, {}, "--strict");
    expect(strict.exitCode).toBe(1);
  });

  test("finds that the functions count in another collection", async () => {
    const { exitCode, report } = await doctor(SUITE, {}, "--collection", "tallies");
    expect(exitCode).toBe(1);
    expect(report.findings.map(({ id }) => id)).toEqual(["rules-without-counters", "functions-elsewhere"]);
    expect(report.findings[1]?.remedy).toContain("COLLECTION");
  });

  test("finds rules of the emulator that are open, and a project without functions", async () => {
    const project = "demo-doctor-rules";
    const open = "match /{document=**} {\n allow read, write: if request.auth != null;\n }\n";
    await loadRules(project, healthyRules().replace("match /posts/", `${open} match /posts/`));
    const { report } = await doctor(project, {});
    expect(report.findings.map(({ id }) => id)).toEqual(["rules-open", "functions-missing"]);
    expect(report.findings[0]?.problem).toContain("match /{document=**} covers the counters");
  });

  test("without credentials it fails, and finds nothing", async () => {
    const nowhere = { FIRESTORE_EMULATOR_HOST: undefined, GOOGLE_APPLICATION_CREDENTIALS: undefined, HOME: tmpdir() };
    const env = { ...nowhere, CLOUDSDK_CONFIG: tmpdir(), METADATA_SERVER_DETECTION: "none" };
    const ended = await startProgram(process.execPath, [CLI, "doctor", "--project", SUITE], env).ended;
    expect(ended).toMatchObject({ exitCode: 1, stdout: "" });
    expect(ended.stderr).toContain("gcloud auth application-default login");
  });

  test("says why it cannot see the functions", async () => {
    const { report } = await doctor(SUITE, { FIREBASE_EMULATOR_HUB: "127.0.0.1:1" });
    expect(report.unseen.find(({ part }) => part === "functions")?.reason).toContain("FIREBASE_EMULATOR_HUB");
    expect(report.findings).toEqual([]);
  });
});

describe("with Google's APIs as they are documented", () => {
  let apis: GoogleApis;
  const { db, counter: make } = cliProject(PROJECT);

  beforeAll(async () => {
    apis = await serveGoogleApis(healthyProject(PROJECT));
  });
  beforeEach(async () => {
    apis.resources = healthyProject(PROJECT);
    await clear(PROJECT);
    await make("likes:post42", [5, 9, 1], { shardCount: 1 });
    await make("views:home", Array(30).fill(2), { shardCount: 30 });
  });
  afterAll(async () => {
    await apis.close();
    await db.terminate();
  });

  const examine = (...args: string[]) => doctor(PROJECT, { TALLY_GOOGLE_APIS: apis.address }, ...args);

  test("finds nothing on a healthy project, and sees all but the query plan", async () => {
    const { exitCode, report } = await examine();
    expect(report.findings).toEqual([]);
    expect(report.unseen.map(({ part }) => part)).toEqual(["query plan"]);
    expect(exitCode).toBe(0);
  });

  test("reads the APIs alone: requests are GET, or ask for a policy", async () => {
    apis.requests.length = 0;
    await examine();
    expect(apis.requests.length).toBeGreaterThan(10);
    for (const request of apis.requests) expect(request).toMatch(/^GET |^POST .*:getIamPolicy$/);
  });

  test("writes nothing to the database, and states what its reads cost", async () => {
    const { reading, inspection } = meter();
    const proxy = await startProxy(host, [
      explained("(shard ASC, count ASC, writes ASC, __name__ ASC)", 1),
      inspection,
    ]);
    const { report } = await examine("--emulator", proxy.address);
    proxy.close();
    expect(reading.usage).toMatchObject({ writes: 0, deletes: 0 });
    expect([...reading.calls.keys()]).not.toContain("transaction");
    expect(report.reads).toBe(reading.usage.reads);
  });

  test("what is forbidden is not seen, and not taken for missing", async () => {
    for (const path of Object.values(paths)) apis.resources[path] = null;
    const { exitCode, report } = await examine();
    expect(report.findings).toEqual([]);
    expect(exitCode).toBe(0);
    const reasons = Object.fromEntries(report.unseen.map(({ part, reason }) => [part, reason]));
    expect(reasons.rules).toContain("The caller does not have permission");
    expect(reasons).toHaveProperty("App Check");
    expect((await examine("--strict")).exitCode).toBe(1);
  });

  test("errors come first, and a warning alone fails with --strict only", async () => {
    apis.resources[paths.appCheck].enforcementMode = "OFF";
    expect((await examine()).exitCode).toBe(0);
    expect((await examine("--strict")).exitCode).toBe(1);
    delete apis.resources[paths.queue];
    const { exitCode, stderr, report } = await examine();
    expect(report.findings.map(({ severity }) => severity)).toEqual(["error", "warning"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
  });

  test("looks at a bounded sample of the counters, and says so", async () => {
    for (let n = 0; n < 12; n++) await make(`pages:${n}`, [1]);
    const { report } = await examine("--sample", "5");
    expect(report).toMatchObject({ counters: 5, allCounters: false });
    const all = await examine();
    expect(all.report).toMatchObject({ counters: 14, allCounters: true });
  });
});
