import { expect, test } from "vitest";
import { listingOf } from "./listing.ts";

test.each([
  ["", "rate", { order: "rate" }],
  ["  ", "id", { order: "id" }],
  ["likes:", "rate", { group: "likes", order: "rate" }],
  ["likes:", "day", { group: "likes", order: "day" }],
  ["", "day", { order: "total" }],
  ["likes:po", "month", { prefix: "likes:po", order: "id" }],
  ["likes:po", "rate", { prefix: "likes:po", order: "id" }],
  ["a:b:", "total", { prefix: "a:b:", order: "id" }],
  [":", "total", { prefix: ":", order: "id" }],
] as const)("searching for %j by %s lists %j", (search, order, listing) => {
  expect(listingOf({ search, order })).toEqual(listing);
});
