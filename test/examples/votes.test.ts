import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a user votes up or down, once, and may withdraw", async () => {
  const { increments, db, anotherUser } = await newProject("votes");
  const { vote, withdrawVote, myVote } = await import("../../examples/votes/votes.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  const expectVote = async (mine: number, sum: number) =>
    expect([await myVote("42"), (await increments("votes:42")).sum]).toEqual([mine, sum]);
  await expectVote(0, 0);
  await vote("42", 1);
  await vote("42", 1);
  await expectVote(1, 1);
  await vote("42", -1);
  await expectVote(-1, -1);
  await anotherUser();
  await vote("42", -1);
  await expectVote(-1, -2);
  await withdrawVote("42");
  await withdrawVote("42");
  await expectVote(0, -1);
  // No more than that: not twice at once, and no dislikes.
  await refused(vote("42", 2 as 1));
  await refused(incrementCounter(counter(db, "likes:post"), -1, { once: await userId() }));
});
