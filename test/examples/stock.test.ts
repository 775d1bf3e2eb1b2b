import { expect, test } from "vitest";
import { expectOnlyServers, projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("an order counts once; too few left counts nothing; two at once may sell the last one twice", async () => {
  const { shards, total } = await projectWithFunctions();
  const stock = await import("../../examples/stock/stock.ts");
  const left = async () => (await shards("stock:shoes")).sum;
  await stock.open("shoes", 5);
  await stock.open("shoes", 500);
  expect(await left()).toBe(5);
  expect(await stock.sell("shoes", 4, "order1")).toBe(true);
  expect(await stock.sell("shoes", 4, "order1")).toBe(true);
  expect(await stock.sell("shoes", 2, "order2")).toBe(false);
  expect(await left()).toBe(1);
  const both = await Promise.all([stock.sell("shoes", 1, "order3"), stock.sell("shoes", 1, "order4")]);
  expect(both).toEqual([true, true]);
  expect(await left()).toBe(-1);
  await stock.recount("shoes", 40);
  expect(await left()).toBe(40);
  expect(await stock.sell("shoes", 4, "order1")).toBe(true);
  expect(await total("stock:shoes")).toBe(40);
});

test("the edit of the rules leaves the group to servers", () => expectOnlyServers("stock", "stock"));
