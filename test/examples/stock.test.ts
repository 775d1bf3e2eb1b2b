import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

setUpProjects();

test("tickets are sold once each, to users and to orders, until they are sold out", async () => {
  const { increments, total, anotherUser } = await projectWithFunctions();
  const { openSale, sell, cancelOrder, restock, recall } = await import("../../examples/stock/stock.ts");
  const { buy, giveBack, watchTickets } = await import("../../examples/stock/tickets.ts");
  const left = async () => (await increments("tickets:final")).sum;
  await openSale("final", 500);
  await openSale("final", 900);
  let shown = 0;
  const stop = watchTickets("final", (units) => {
    shown = units;
  });
  await until(() => expect(shown).toBe(500));
  expect(await buy("final", 2)).toBe(2);
  expect(await buy("final", 2)).toBe(2);
  await until(() => expect(shown).toBe(498));
  await sell("final", 40, "order1");
  await sell("final", 40, "order1");
  await recall("final", 455);
  expect(await left()).toBe(3);
  await anotherUser();
  expect(await buy("final", 4)).toBe("sold out");
  expect(await buy("final", 3)).toBe(3);
  await expect(sell("final", 1, "order2")).rejects.toMatchObject({ code: "counter/sold-out" });
  await giveBack("final");
  await cancelOrder("final", "order1");
  await restock("final", 7);
  expect(await left()).toBe(50);
  expect(await total("tickets:final")).toBe(50);
  stop();
});
