import { expect, test } from "vitest";
import { contradictedName } from "./regionNames.ts";

/** A counter that names these regions; those with `null` have published nothing. */
const counter = (regions?: Readonly<Record<string, object | null>>) => ({ get: () => regions });
const register = { total: 3 };

test.each<
  [what: string, listed: string, its: object | undefined, other: object | undefined, known: string | undefined]
>([
  ["a region under its name", "us", { eu: register }, { us: register }, undefined],
  ["a mistyped name", "su", { eu: register }, { us: register }, "us"],
  ["two names that are exchanged", "eu", { eu: register }, { us: register }, "us"],
  ["a region that has published nothing", "us", { eu: register }, { us: null }, undefined],
  ["a region that was added", "asia", { us: register, eu: null }, { us: register }, undefined],
  [
    "a region that was added for one that was taken away",
    "asia",
    { us: register, eu: register },
    { eu: register },
    undefined,
  ],
  ["the same, of a counter that the old one never had", "asia", { us: register }, { eu: null }, undefined],
  ["the same, of a counter that has heard of none", "us2", { eu: null }, { us: register }, undefined],
  ["a counter without regions", "us", undefined, { eu: register }, undefined],
  ["a counter that the other region does not have", "us", { eu: register }, undefined, undefined],
])("%s: %s", (_, listed, its, other, known) => {
  expect(contradictedName(listed, counter(its as never), counter(other as never))).toBe(known);
});
