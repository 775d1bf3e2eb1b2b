import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { projectWithFunctions, refused, setUpProjects, until } from "./project.ts";

setUpProjects();

// The suite has the parameters COUNTED_COLLECTION and MIRRORS that the guide names (scripts/test.ts).
test("the functions count the documents, deletions included, and put the number into the post", async () => {
  const { db, server, anotherUser } = await projectWithFunctions("comments");
  const { comment, removeComment, watchNumber, mostDiscussed } = await import("../../examples/comments/comments.ts");
  await Promise.all(["lively", "quiet"].map((post) => server.doc(`posts/${post}`).set({ title: post })));
  let number: number | undefined;
  const stop = watchNumber("lively", (comments) => {
    number = comments;
  });
  await comment("quiet", "hello");
  const [first = ""] = await Promise.all(["a", "b", "c"].map((text) => comment("lively", text)));
  await until(() => expect(number).toBe(3));
  await removeComment("lively", first);
  await until(() => expect(number).toBe(2));
  stop();
  await until(async () =>
    expect(await mostDiscussed(2)).toEqual([
      { id: "lively", comments: 2 },
      { id: "quiet", comments: 1 },
    ]),
  );
  expect((await server.doc("posts/lively").get()).data()).toEqual({ title: "lively", comments: 2 });
  await anotherUser();
  const [other] = (await server.collection("posts/quiet/comments").get()).docs;
  await refused(removeComment("quiet", other?.id ?? ""));
  await refused(comment("quiet", "x".repeat(1_001)));
  await refused(incrementCounter(counter(db, "comments:lively")));
});
