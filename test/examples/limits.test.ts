import { addDoc, collection, serverTimestamp } from "firebase/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a user writes five comments at once, and is told when to try again; another user is not affected", async () => {
  const { db, server, anotherUser } = await newProject("limits");
  const { comment } = await import("../../examples/limits/limits.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  for (let n = 0; n < 5; n++) await comment("lively", `comment ${n}`);
  await expect(comment("lively", "one more")).rejects.toMatchObject({
    code: "counter/rate-limited",
    retryAfter: expect.closeTo(150_000, -4.3),
  });
  // Without a use the rules refuse the document itself.
  const without = { author: await userId(), text: "hello", at: serverTimestamp() };
  await refused(addDoc(collection(db, "posts/lively/comments"), without));
  await anotherUser();
  await refused(comment("lively", "x".repeat(1_001)));
  await comment("lively", "hello");
  expect((await server.collection("posts/lively/comments").get()).size).toBe(6);
});

test("a user claps ten times, and is told in how many seconds again", async () => {
  const { db, increments } = await newProject("limits");
  const { clap } = await import("../../examples/limits/limits.ts");
  for (let n = 0; n < 10; n++) expect(await clap("talk")).toBe(0);
  const seconds = await clap("talk");
  expect(seconds).toBeGreaterThan(40);
  expect(seconds).toBeLessThanOrEqual(61);
  await refused(incrementCounter(counter(db, "claps:talk")));
  expect((await increments("claps:talk")).sum).toBe(10);
});
