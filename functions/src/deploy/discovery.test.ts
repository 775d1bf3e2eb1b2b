import { afterEach, expect, test, vi } from "vitest";
import { onDiscovery } from "./discovery.ts";

afterEach(() => vi.unstubAllEnvs());

const discovery = { FUNCTIONS_CONTROL_API: "true" };

test.each([
  [{ LOCATION: "eur3" }, 'LOCATION is "eur3"; set it to europe-west1, the region of functions that is nearest'],
  [{ LOCATION: "europe" }, "a region of functions, such as us-central1"],
  [{ SERVICE_ACCOUNT: "tally@" }, 'SERVICE_ACCOUNT is "tally@"; set it to the whole email'],
])("a deployment of %j is refused before anything is created: %s", (values, message) => {
  expect(() => onDiscovery({ ...discovery, ...values })).toThrow(message);
  // In a deployed function the values are what they are.
  expect(() => onDiscovery(values)).not.toThrow();
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
