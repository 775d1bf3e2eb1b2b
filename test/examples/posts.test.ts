import { expect, test } from "vitest";
import { projectWithFunctions, refused, setUpProjects, until } from "./project.ts";

setUpProjects();

test("the counters of a post that is deleted go, and later clicks do not bring them back", async () => {
  const { server, total, anotherUser } = await projectWithFunctions("posts");
  const { like, unlike } = await import("../../examples/likes/likes.ts");
  const { countView } = await import("../../examples/views/views.ts");
  const { postDeleted } = await import("../../examples/posts/deleted.ts");
  const post = server.doc("posts/short-lived");
  const documentsLeft = async () => {
    const counters = ["likes", "views"].map((group) => server.doc(`counters/${group}:short-lived`));
    const found = (await server.getAll(...counters)).filter(({ exists }) => exists).length;
    const parts = counters.flatMap((one) => ["shards", "tallyEntries"].map((part) => one.collection(part)));
    const counts = await Promise.all(parts.map(async (part) => (await part.count().get()).data().count));
    return counts.reduce((sum, count) => sum + count, found);
  };

  await refused(like("short-lived"));
  await refused(countView("short-lived"));
  await post.set({ title: "here for a minute" });
  await like("short-lived");
  for (let n = 0; n < 6; n++) await countView("short-lived");
  await anotherUser();
  await like("short-lived");
  await total("views:short-lived");
  await total("likes:short-lived");
  expect(await documentsLeft()).toBeGreaterThan(4);

  await post.delete();
  await refused(countView("short-lived"));
  await unlike("short-lived");
  const event = { params: { post: "short-lived" } } as Parameters<typeof postDeleted.run>[0];
  for (let n = 0; n < 2; n++) await postDeleted.run(event);
  await refused(like("short-lived"));
  await refused(countView("short-lived"));
  await until(async () => expect(await documentsLeft()).toBe(0));
});
