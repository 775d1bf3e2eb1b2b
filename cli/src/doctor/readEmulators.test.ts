/** The functions of an Emulator Suite, as its hub and its functions emulator tell them: the answers of firebase-tools 15.34. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { healthyFacts } from "../../testing/healthyFacts.ts";
import { checkParameters } from "./parameterChecks.ts";
import { readEmulators } from "./readEmulators.ts";

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

test("the functions of another project, or of another suite, are not this project's", async () => {
  suite({ project: "demo-other" });
  expect((await readEmulators(target())).functions).toEqual({ value: [] });
  suite({ firestore: 1 });
  expect((await readEmulators(target())).functions).toEqual({
    unseen: expect.stringContaining("FIREBASE_EMULATOR_HUB"),
  });
});

test("without a hub the functions are not seen", async () => {
  vi.stubEnv("FIREBASE_EMULATOR_HUB", "127.0.0.1:1");
  const { functions } = await readEmulators(target());
  expect(functions).toEqual({ unseen: expect.stringContaining("FIREBASE_EMULATOR_HUB") });
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
