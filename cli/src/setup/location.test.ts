import { expect, test } from "vitest";
import { regionsNear } from "../../../functions/src/decisions.ts";
import { assertLocation, isNear, locationProblem } from "./location.ts";

test.each([
  ["nam5", "us-central1"],
  ["eur3", "europe-west1"],
  ["asia-east1", "asia-east1"],
])("the functions of a database in %s run in %s", (location, region) => {
  expect(locationProblem(location)).toBeUndefined();
  expect(regionsNear(location)[0]).toBe(region);
});

test("a region of the database's own is beside it, another is not", () => {
  expect(isNear("europe-west4", "eur3")).toBe(true);
  expect(isNear("us-central1", "eur3")).toBe(false);
  expect(isNear("europe-west4", "europe-west1")).toBe(false);
});

test.each([
  ["europe", /mean eur3, europe-central2, .*europe-west1,/],
  ["europe-west99", /mean europe-west9\?$/],
  ["us-centarl1", /mean nam5, nam7, us-central1\?$/],
  ["nam4", /mean nam5, nam7\?$/],
  ["Eur3", /mean eur3\?$/],
  ["London", /choose one of nam5, .*us-west4$/],
  ["", /choose one of/],
])("%j is no location, and those like it are named", (text, expected) => {
  expect(locationProblem(text)).toMatch(expected);
  expect(() => assertLocation(text, "--location")).toThrow(`--location ${JSON.stringify(text)} is no location`);
});
