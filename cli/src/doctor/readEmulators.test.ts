/** The functions of an Emulator Suite, as its hub and its functions emulator tell them: the answers of firebase-tools 15.34. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { healthyFacts } from "../../testing/healthyFacts.ts";
import { findingsOf } from "./checks.ts";
import { checkParameters } from "./parameterChecks.ts";
import { readEmulators } from "./readEmulators.ts";
import { checkSuite } from "./suiteChecks.ts";

let server: Server;
let address: string;
let answers: Record<string, unknown> = {};
const folder = mkdtempSync(join(tmpdir(), "tally-doctor-"));

beforeAll(async () => {
  server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const target = () => ({ ...healthyFacts().target, emulator: address });

/** One server answers for the hub, the functions emulator and Firestore. */
function suite({ env = {}, firestore = Number(address.split(":")[1]), project = "demo" } = {}): void {
  vi.stubEnv("FIREBASE_EMULATOR_HUB", address);
  const [host, port] = address.split(":");
  const trigger = (name: string, document?: string) => ({
    name: `tally-${name}`,
    region: "us-central1",
    labels: {
      EVENTARC_CLOUD_EVENT_SOURCE: `run-emulated.googleapis.com/projects/${project}/locations/us-central1/services/x`,
    },
    ...(document && {
      eventTrigger: { eventFilters: { database: "(default)" }, eventFilterPathPatterns: { document } },
    }),
  });
  answers = {
    "/emulators": { firestore: { host, port: firestore }, functions: { host, port: Number(port) } },
    "/backends": {
      backends: [
        {
          directory: folder,
          env,
          functionTriggers: [
            trigger("shardcreated", "counters/{counterId}/shards/{shardId}"),
            trigger("shardzeroupdated", "counters/{counterId}/shards/0"),
            trigger("aggregate"),
          ],
        },
      ],
    },
  };
}

test("functions have their triggers, and parameters from the emulator and from .env files, of which the local one wins", async () => {
  writeFileSync(join(folder, ".env"), "MIN_SHARDS=3\nPRECISION=0.1\n");
  writeFileSync(join(folder, ".env.local"), "PRECISION=0.5\n");
  suite({ env: { MIRRORS: "likes=posts/{name}.likes" } });
  const { functions } = await readEmulators(target());
  const variables = { MIN_SHARDS: "3", PRECISION: "0.5", MIRRORS: "likes=posts/{name}.likes" };
  expect(functions).toMatchObject({
    value: [
      {
        name: "tally-shardcreated",
        variables,
        trigger: { database: "(default)", document: "counters/{counterId}/shards/{shardId}" },
      },
      { name: "tally-shardzeroupdated" },
      { name: "tally-aggregate", trigger: null },
    ],
  });
  const findings = checkParameters(healthyFacts({ target: target(), functions }));
  expect(findings.map(({ id }) => id)).toEqual(["shards-minimum"]);
});

test("parameters that lie elsewhere are not taken for defaults", async () => {
  for (const file of [".env", ".env.local"]) rmSync(join(folder, file), { force: true });
  suite({ env: { FIREBASE_KIT_INSTANCE_ID: "main" } });
  const { functions } = await readEmulators(target());
  expect(functions).toMatchObject({ value: [{ variables: null }, { variables: null }, { variables: null }] });
});

/** What is found, and its remedy. */
async function examine(of = target()) {
  const found = checkSuite(healthyFacts({ target: of, ...(await readEmulators(of)) }));
  return found.map(({ id, severity, problem, remedy }) => `${severity} ${id}: ${problem} → ${remedy}`);
}

test("a suite that runs the functions of this project is right", async () => {
  suite();
  expect(await examine()).toEqual([]);
});

test("a mistyped project is told which one the suite runs, also where only the files of hubs name it", async () => {
  const wrong = [
    expect.stringMatching(/^error suite-project: .* runs the project "demo-other", .*--project demo-other/),
  ];
  suite({ project: "demo-other" });
  expect(await examine()).toEqual(wrong);
  expect((await readEmulators(target())).functions).toEqual({ unseen: expect.any(String) });
  // As in a terminal of its own, where nothing names the hub.
  vi.unstubAllEnvs();
  vi.stubEnv("TMPDIR", folder);
  writeFileSync(join(folder, "hub-demo-other.json"), JSON.stringify({ origins: [`http://${address}`] }));
  expect(await examine()).toEqual(wrong);
  answers["/backends"] = { backends: [] };
  expect(await examine()).toEqual(wrong);
});

test("a suite without functions, a hub that does not answer and one of another Firestore are errors that say what to do", async () => {
  suite();
  answers["/emulators"] = { firestore: { port: Number(address.split(":")[1]) } };
  expect(await examine()).toEqual([
    expect.stringMatching(
      /^error suite-functions: .* without functions, .* → start it .*emulators:start --project demo /,
    ),
  ]);
  suite({ firestore: 1 });
  const missing =
    /^error suite-missing: no Emulator Suite hub .*\(asked: .*\), .* → start the suite: .*FIREBASE_EMULATOR_HUB/;
  expect(await examine()).toEqual([expect.stringMatching(missing)]);
  vi.stubEnv("FIREBASE_EMULATOR_HUB", "127.0.0.1:1");
  expect(await examine()).toEqual([expect.stringMatching(missing)]);
});

test("functions that failed to load are missing, and the suite's output says why", async () => {
  suite();
  answers["/backends"] = { backends: [{ directory: folder }] };
  const facts = healthyFacts({ target: target(), ...(await readEmulators(target())) });
  expect(findingsOf(facts)).toMatchObject([{ id: "functions-missing", remedy: expect.stringContaining("its output") }]);
});

test("rules are those that are loaded; without any they are not seen", async () => {
  suite();
  const readRules = async (files: object[]) => {
    answers[`/emulator/v1/projects/demo:securityRules`] = { rules: { files } };
    return (await readEmulators(target())).rules;
  };
  expect(await readRules([{ content: "rules" }])).toEqual({ value: { source: "rules" } });
  expect(await readRules([])).toEqual({ unseen: expect.stringContaining("no rules are loaded") });
});
