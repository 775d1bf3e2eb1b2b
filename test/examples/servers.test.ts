import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

setUpProjects();

const order = (id: string, quantity: number) =>
  new Request("https://shop.example/orders", {
    method: "POST",
    body: JSON.stringify({ id, product: "shoes", quantity }),
  });

test("an order counts once, and the handler answers when time is up", async () => {
  const { total } = await projectWithFunctions();
  const { handleOrder } = await import("../../examples/servers/orders.ts");
  const answers = await Promise.all(["a", "b", "a"].map((id) => handleOrder(order(id, 2))));
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(await total("sales:shoes")).toBe(4);
  // A new order with the id of another one is a mistake of the caller.
  await expect(handleOrder(order("a", 3))).rejects.toMatchObject({ code: "counter/once-conflict" });
  // In no time nothing can be counted for sure. Sent again, it counts once.
  const late = await handleOrder(order("c", 5), 0);
  expect(late.status).toBe(503);
  expect((await handleOrder(order("c", 5))).status).toBe(204);
  await until(async () => expect(await total("sales:shoes")).toBe(9));
});

test("a counter that a crowd is expected for has its shards at once", async () => {
  const { server } = await projectWithFunctions();
  const { prepareForCrowd } = await import("../../examples/servers/crowd.ts");
  await prepareForCrowd("sales:hats");
  expect((await server.doc("counters/sales:hats").get()).get("shardCount")).toBe(50);
});

test("imported likes count once each, also those that users had made, and the import can be repeated", async () => {
  const { total, anotherUser, server } = await projectWithFunctions();
  const { auth } = await import("../../examples/setup/firebase.ts");
  const { importLikes } = await import("../../examples/servers/importLikes.ts");
  const { like, unlike } = await import("../../examples/likes/likes.ts");
  await like("imported");
  const uid = auth.currentUser?.uid ?? "";
  const likes = [uid, ...Array.from({ length: 300 }, (_, n) => `user${n}`)].map((user) => ({ post: "imported", user }));
  await importLikes(likes);
  await anotherUser();
  await like("imported");
  await importLikes(likes);
  expect(await total("likes:imported")).toBe(302);
  await unlike("imported");
  await until(async () => expect(await total("likes:imported")).toBe(301));
  expect((await server.collection("counters/likes:imported/tallyEntries").get()).size).toBe(301);
});
