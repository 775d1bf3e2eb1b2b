import { expect, test } from "vitest";
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
])("%s refuses %s, and says what it accepts", (name, value) => {
  expect(() => parse({ [name]: value })).toThrow(new RegExp(`^counter/invalid-config: ${name} is .*; set it to `));
});
