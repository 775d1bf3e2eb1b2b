import { afterEach, expect, test, vi } from "vitest";
import { onDiscovery } from "./discovery.ts";

afterEach(() => vi.unstubAllEnvs());

const discovery = { FUNCTIONS_CONTROL_API: "true" };

test.each([
  [{ LOCATION: "eur3" }, 'LOCATION is "eur3"; set it to europe-west1, the region of functions that is nearest'],
  [{ LOCATION: "europe" }, "a region of functions, such as us-central1"],
  [{ MIN_SHARDS: "0" }, "counter/invalid-config: "],
  [{ SHRINK_COOLDOWN_SECONDS: "5" }, "counter/invalid-config: "],
  [
    { INGEST_ORIGINS: "https://x.com/" },
    'INGEST_ORIGINS is "https://x.com/"; set it to "https://x.com", without a path',
  ],
  [{ INGEST_COUNTERS: "/views:(/" }, 'INGEST_COUNTERS is "/views:(/"; set it to ids of counters'],
  [{ SERVICE_ACCOUNT: "tally@" }, 'SERVICE_ACCOUNT is "tally@"; set it to the whole email'],
])("a deployment of %j is refused before anything is created: %s", (values, message) => {
  expect(() => onDiscovery({ ...discovery, ...values })).toThrow(message);
  // In a deployed function the values are what they are.
  expect(() => onDiscovery(values)).not.toThrow();
});

test("values that are valid, or valid on the emulator, are deployed", () => {
  const values = { INGEST_COUNTERS: "/views:[a-z]{1,40}/, downloads", MAX_INTERVAL_SECONDS: "30", PATH: "/bin" };
  expect(() => onDiscovery({ ...discovery, ...values })).not.toThrow();
  const emulated = { FUNCTIONS_EMULATOR: "true", SHRINK_COOLDOWN_SECONDS: "5" };
  expect(() => onDiscovery({ ...discovery, ...emulated })).not.toThrow();
});

test("a region that is newer than the list is deployed, with a warning", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue();
  onDiscovery({ ...discovery, LOCATION: "us-west8" });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("is it misspelt?"));
});

test("a deployment by an old Node.js is told so", () => {
  vi.stubGlobal("process", { ...process, versions: { node: "20.19.0" } });
  expect(() => onDiscovery(discovery)).toThrow("needs Node.js 22 or newer, and the Firebase CLI runs in 20.19.0");
  vi.unstubAllGlobals();
});
