import { expect, test } from "vitest";
import { onDiscovery } from "../../deploy/discovery.ts";
import { Values } from "../../shared/parameters.ts";
import { ingestPlan } from "./ingestPlan.ts";
import { parseIngestConfig } from "./parseIngestConfig.ts";

const parse = (values: Record<string, string>) => parseIngestConfig(new Values(ingestPlan.parameters, values));

test("by default ingest counts nothing, for no site", () => {
  const { counters, origins } = parse({});
  expect([counters.ids.size, counters.groups.size, origins]).toEqual([0, 0, []]);
});

test.each([
  ["INGEST_COUNTERS", "*"],
  ["INGEST_ORIGINS", "example.com"],
  ["INGEST_ORIGINS", "https://example.com/"],
  ["INGEST_ORIGINS", "*, https://example.com"],
  ["INGEST_APP_CHECK", "true"],
  ["INGEST_MAX_AMOUNT", "1.5"],
  ["INGEST_AMOUNT_PER_SECOND", "many"],
])("%s refuses %s, and says what it accepts", (name, value) => {
  expect(() => parse({ [name]: value })).toThrow(new RegExp(`^counter/invalid-config: ${name} is .*; set it to `));
});

test.each([
  [
    { INGEST_ORIGINS: "https://example.com/" },
    'INGEST_ORIGINS is "https://example.com/"; set it to "https://example.com", without a path',
  ],
  [{ INGEST_COUNTERS: "/views:(/" }, 'INGEST_COUNTERS is "/views:(/"; set it to ids of counters'],
])("a deployment of %j is refused before anything is created: %s", (values, message) => {
  expect(() => onDiscovery({ FUNCTIONS_CONTROL_API: "true", ...values })).toThrow(message);
});
