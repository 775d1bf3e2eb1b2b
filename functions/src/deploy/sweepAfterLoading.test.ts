/** What the discovery asks of the emulators, which one server stands in for. The real ones: test/packaging/emulatorImport.test.ts. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { isEmulatorDiscovery, sweepAfterLoading } from "./sweepAfterLoading.ts";

let server: Server;
let address: string;
const asked: { path: string; body: string }[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    asked.push({ path: `${request.method} ${request.url}`, body });
    response.end('{ "functions": { "host": "127.0.0.1", "port": 5001 } }');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  asked.length = 0;
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
afterAll(() => server.close());

const discovery = () => ({
  FUNCTIONS_CONTROL_API: "true",
  FUNCTIONS_EMULATOR: "true",
  GCLOUD_PROJECT: "demo-shop",
  FIRESTORE_EMULATOR_HOST: address,
  CLOUD_TASKS_EMULATOR_HOST: address,
  FIREBASE_EMULATOR_HUB: address,
});

test("only the discovery of an emulator with Firestore and tasks looks: no deployment, no worker, no instance", () => {
  expect(isEmulatorDiscovery(discovery())).toBe(true);
  for (const name of Object.keys(discovery()).filter((one) => one !== "GCLOUD_PROJECT"))
    expect(isEmulatorDiscovery({ ...discovery(), [name]: undefined }), name).toBe(false);
});

test.each([
  [{}, "us-central1", "tally-sweep"],
  [{ LOCATION: "europe-west1" }, "europe-west1", "tally-sweep"],
  [{ FIREBASE_KIT_INSTANCE_ID: "main" }, "us-central1", "kit-main-sweep"],
])("with %j, a task calls the sweep until it is there", async (parameters, location, sweep) => {
  for (const [name, value] of Object.entries(parameters)) vi.stubEnv(name, value);
  await sweepAfterLoading({ ...discovery(), ...parameters });
  const queue = `/projects/demo-shop/locations/${location}/queues/${sweep}-after-loading`;
  expect(asked.map(({ path }) => path)).toEqual(["GET /emulators", `POST ${queue}`, `POST ${queue}/tasks`]);
  expect(JSON.parse(asked.at(-1)?.body ?? "")).toMatchObject({
    task: {
      httpRequest: { url: `http://127.0.0.1:5001/functions/projects/demo-shop/triggers/${location}-${sweep}-0` },
    },
  });
});

test("an emulator that does not answer stops no discovery", async () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  await sweepAfterLoading({ ...discovery(), CLOUD_TASKS_EMULATOR_HOST: "127.0.0.1:1" });
  expect(warn).toHaveBeenCalledOnce();
});
