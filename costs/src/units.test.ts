/** The units of the Enterprise edition, by the examples of https://firebase.google.com/docs/firestore/enterprise/pricing-examples. */
import { expect, test } from "vitest";
import { ENTERPRISE_PRICES, isEnterprise, PRICES, pricesOf } from "./prices.ts";
import { billingOf, measuringReads, readUnits, writeUnits } from "./units.ts";

test("a write is a unit for each KiB that the document has, at least one, and one for each index entry", () => {
  expect([0, 1, 1_024, 1_025, 4_096].map((bytes) => writeUnits(bytes))).toEqual([1, 1, 1, 2, 4]);
  // A new entry is one, a changed one is written and removed.
  expect([writeUnits(600, 1), writeUnits(600, 2)]).toEqual([2, 3]);
});

test("a read is a unit for each 4 KiB; a query scans documents that share units", () => {
  expect([0, 4_096, 4_097].map(readUnits)).toEqual([1, 1, 2]);
  const { enterprise, standard } = {
    enterprise: billingOf(ENTERPRISE_PRICES.regional),
    standard: billingOf(PRICES.nam5),
  };
  expect(enterprise.list(100, 1_024)).toBe(25);
  expect(standard.list(100, 1_024)).toBe(100);
});

test("a query of an index scans its entries, and reads each document by itself: the 10 largest of 1,000 counters are 11 units", () => {
  const [standard, enterprise] = [PRICES.nam5, ENTERPRISE_PRICES.regional].map(billingOf);
  expect([0, 1, 10, 128].map((documents) => enterprise?.lookUp(documents, 600))).toEqual([1, 2, 11, 128 + 4]);
  expect([0, 1, 10].map((documents) => standard?.lookUp(documents, 600))).toEqual([1, 1, 10]);
  expect(enterprise?.lookUp(10, 4_097)).toBe(21);
});

test("a count is a unit for each 128 documents, or a read for each 1,000", () => {
  const [standard, enterprise] = [PRICES.nam5, ENTERPRISE_PRICES.regional].map(billingOf);
  expect([0, 128, 129, 1_000].map((documents) => enterprise?.count(documents))).toEqual([1, 1, 2, 8]);
  expect([0, 1_000, 1_001].map((documents) => standard?.count(documents))).toEqual([1, 1, 2]);
});

test("a measurement of 150 small shards is 26 read units, or 2 reads by the index", () => {
  expect(billingOf(ENTERPRISE_PRICES.regional).measure(150, 650)).toBe(26);
  expect([1, 3, 4, 1_000, 1_001].map(measuringReads)).toEqual([1, 3, 2, 2, 4]);
});

test("a sweep reads the counters that are polled", () => {
  expect(billingOf(ENTERPRISE_PRICES.regional).sweep(0, 600)).toBe(2);
  expect(billingOf(ENTERPRISE_PRICES.regional).sweep(1_000, 600)).toBe(1_000 + 25 + 1);
  expect(billingOf(PRICES.nam5).sweep(0, 600)).toBe(2);
  expect(billingOf(PRICES.nam5).sweep(7, 600)).toBe(7);
});

test("an update, which a listener receives, is a read on Standard and a real-time unit on Enterprise", () => {
  expect(billingOf(PRICES.regional).units.update).toBe("read");
  expect(billingOf(ENTERPRISE_PRICES.regional).units.update).toBe("realtimeUnit");
  expect(PRICES.regional.read).toBe(ENTERPRISE_PRICES.regional.realtimeUnit);
});

test("the prices of Enterprise are known of one location", () => {
  expect(pricesOf("enterprise", "nam5")).toBeUndefined();
  expect(pricesOf("enterprise", "regional")).toSatisfy(isEnterprise);
  expect(pricesOf("standard", "nam5")).toBe(PRICES.nam5);
});
