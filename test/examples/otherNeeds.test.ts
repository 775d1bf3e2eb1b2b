import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, projectWithFunctions, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("each user counts once a day, in the counter of that day alone", async () => {
  const { db, anotherUser, increments } = await newProject("otherNeeds");
  const { checkIn, lastWeek } = await import("../../examples/otherNeeds/checkIn.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  await checkIn();
  await checkIn();
  await anotherUser();
  await checkIn();
  const today = Math.floor(Date.now() / 86_400_000);
  expect(await increments(`checkIns:${today}`)).toEqual({ sum: 2, writes: 2 });
  expect(await lastWeek()).toEqual([2, 0, 0, 0, 0, 0, 0]);
  const once = await userId();
  for (const day of [today - 1, today + 1, `0${today}`, `${today}:2`]) {
    await refused(incrementCounter(counter(db, `checkIns:${day}`), 1, { once }));
  }
  // Another text than the uid counts for no client.
  await refused(incrementCounter(counter(db, "likes:post"), 1, { once: `${once}:${today}` }));
  await incrementCounter(counter(db, "likes:post"), 1, { once });
});

test("a user's likes of a list of posts, and all of them on a server", async () => {
  const { anotherUser } = await projectWithFunctions();
  const { like } = await import("../../examples/likes/likes.ts");
  const { likedOf } = await import("../../examples/otherNeeds/liked.ts");
  const { likedBy } = await import("../../examples/otherNeeds/likedByUser.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  await like("other");
  await anotherUser();
  for (const post of ["a", "c"]) await like(post);
  expect(await likedOf(["a", "b", "c", "other"])).toEqual(["a", "c"]);
  expect(await likedOf([])).toEqual([]);
  expect(await likedBy(await userId())).toEqual(["likes:a", "likes:c"]);
});

test("the unit test without the emulator passes", async () => {
  const { FIRESTORE_EMULATOR_HOST: _, ...env } = process.env;
  const options = { env: { ...env, NO_COLOR: "1" } };
  const { stdout } = await promisify(execFile)("vitest", ["run", "--root", "examples/otherNeeds"], options);
  expect(stdout).toMatch(/Tests +1 passed/);
});
