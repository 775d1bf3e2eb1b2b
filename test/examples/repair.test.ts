import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("a recount counts the posts that exist, and posts that are published meanwhile once", async () => {
  const { server: db, total } = await projectWithFunctions();
  const { nameSource, recountPosts, publishPost, withdrawPost } = await import("../../examples/repair/posts.ts");
  for (let n = 0; n < 30; n++) {
    await db.doc(`posts/old${n}`).set({ state: n % 3 === 0 ? "draft" : "published" });
  }
  await nameSource();
  await nameSource();
  const publishing = Promise.all(Array.from({ length: 20 }, (_, n) => publishPost(`new${n}`, "…")));
  await recountPosts();
  await publishing;
  const withdrawing = Promise.all(Array.from({ length: 5 }, (_, n) => withdrawPost(`new${n}`)));
  expect(await recountPosts()).toMatch(/^\d+ posts, all counted$/);
  await withdrawing;
  expect(await recountPosts()).toBe("35 posts, all counted");
  await db.doc("posts/new7").delete();
  expect(await recountPosts()).toBe("34 posts, corrected by -1");
  expect(await total("posts:published")).toBe(34);
  await expect(withdrawPost("new7")).rejects.toThrow();
  expect(await recountPosts()).toBe("34 posts, all counted");
  expect((await db.collection("counters/posts:published/tallyCorrections").get()).size).toBeGreaterThanOrEqual(2);
});

test("an alarm that is delivered twice is recorded once", async () => {
  const { server: db } = await projectWithFunctions();
  const { drifted } = await import("../../examples/repair/alarms.ts");
  const data = { counter: "posts:published", expected: 34, found: 35, drift: -1, asOf: new Date().toISOString() };
  const event = { id: "one", data } as Parameters<typeof drifted.run>[0];
  await Promise.all([drifted.run(event), drifted.run(event)]);
  const { docs } = await db.collection("alarms").get();
  expect(docs.map((alarm) => [alarm.id, alarm.data()])).toEqual([["one", data]]);
});
