import { expect, test } from "vitest";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { newProject, refused, setUpProjects, until } from "./project.ts";

setUpProjects();

test("a review and its count are one commit, which a connection cut after it does not double", async () => {
  const proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { increments, server } = await newProject("reviews", proxy.address);
  const { review } = await import("../../examples/reviews/reviews.ts");
  await review("lamp", "first");
  proxy.withhold();
  const second = review("lamp", "second");
  await until(async () => expect((await increments("reviews:lamp")).sum).toBe(2));
  proxy.cut();
  await second;
  // Too long: refused, and not counted either.
  await refused(review("lamp", "x".repeat(1_001)));
  expect((await increments("reviews:lamp")).sum).toBe(2);
  expect((await server.collection("products/lamp/reviews").count().get()).data().count).toBe(2);
  await proxy.close();
});
