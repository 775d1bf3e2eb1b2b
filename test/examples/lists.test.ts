import { expect, test } from "vitest";
import { parseMirrors } from "../../core/src/index.ts";
import { aggregate } from "../../functions/src/counter/aggregate.ts";
import { readCounter } from "../../functions/src/counter/counterDocument.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { newProject, refused, setUpProjects } from "./project.ts";

setUpProjects();

// The guide's parameter. The suite has others, so the functions' own code runs in this process.
const MIRRORS = "likes=posts/{name}.likes";

test("posts are listed by the likes that the functions write into them", async () => {
  const { server, anotherUser } = await newProject("lists");
  const { mostLiked, publish } = await import("../../examples/lists/lists.ts");
  const { like } = await import("../../examples/likes/likes.ts");
  const { doc, updateDoc } = await import("firebase/firestore");
  const { db } = await import("../../examples/setup/firebase.ts");
  const { backend } = inProcessBackend(
    { collection: "counters", mirrors: parseMirrors(MIRRORS, "MIRRORS"), minInterval: 0, maxInterval: 0 },
    server,
  );
  const publishTotal = async (post: string) => {
    const state = await readCounter(server.doc(`counters/likes:${post}`), FEATURES);
    await aggregate(backend, state, { at: Date.now(), shardId: "0", isPoll: false });
  };
  const [first, second] = [await publish("first"), await publish("second")];
  await publish("third");
  await refused(updateDoc(doc(db, "posts", first), { likes: 100 }));
  await updateDoc(doc(db, "posts", first), { title: "still first" });
  await like(second);
  await anotherUser();
  await like(second);
  await like(first);
  for (const post of [first, second]) await publishTotal(post);
  expect(await mostLiked(2)).toEqual([
    ["second", 2],
    ["still first", 1],
  ]);
  expect(await mostLiked(10)).toContainEqual(["third", 0]);
});
