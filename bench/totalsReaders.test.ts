import { expect, test } from "vitest";
import { readAges } from "./totalsReaders.ts";

const sight = (at: number, total: number, asOf: number) => ({ at, id: "a", total, asOf });

test("a sight is as old as the oldest acknowledged increment that it lacks", () => {
  const acknowledged = new Map([["a", [100, 200, 300]]]);
  const sights = [[sight(50, 0, 0), sight(150, 0, 0), sight(350, 1, 110), sight(350, 3, 310)], [sight(400, 2, 210)]];
  expect(readAges(sights, acknowledged)).toEqual({ ages: new Map([["a", [0, 50, 150, 0, 100]]]), wentBack: 0 });
});

test("a reader has gone back if its total, or the total's time, is less than before", () => {
  const sights = [[sight(1, 5, 10), sight(2, 5, 10), sight(3, 5, 9), sight(4, 4, 11)], [sight(5, 1, 1)]];
  expect(readAges(sights, new Map()).wentBack).toBe(2);
});
