import * as admin from "firestore-tally/admin";
import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("the leaderboard has the best first, and equal scores the same rank", async () => {
  const { server, total } = await projectWithFunctions();
  const { leaders, rankOf } = await import("../../examples/leaderboards/leaderboard.ts");
  for (const [user, points] of Object.entries({ ada: 70, bob: 90, cleo: 70, dan: 10 })) {
    await admin.incrementCounter(admin.counter(server, `score:${user}`), points);
    await total(`score:${user}`);
  }
  expect(await leaders(1)).toEqual([{ user: "bob", total: 90 }]);
  expect(await leaders(10)).toHaveLength(4);
  const ranks = await Promise.all(["bob", "ada", "cleo", "dan", "eve"].map(rankOf));
  expect(ranks).toEqual([1, 2, 2, 4, undefined]);
});

test("today's board has who has scored today, by what they have scored today", async () => {
  const { server, total } = await projectWithFunctions();
  const { leadersOf, rankIn } = await import("../../examples/leaderboards/leaderboard.ts");
  const score = async (user: string, points: number) => {
    await admin.incrementCounter(admin.counter(server, `score:${user}`), points);
    await total(`score:${user}`);
  };
  for (const [user, points] of Object.entries({ ada: 70, bob: 90, cleo: 20, dan: 10 })) await score(user, points);
  // As if these scores were of yesterday.
  for (const user of ["ada", "bob", "cleo", "dan"]) {
    const ref = server.doc(`counters/score:${user}`);
    const { seconds } = (await ref.get()).get("windows.day.until");
    await ref.update({ "windows.day.until": new Date((seconds - 86_400) * 1_000) });
  }
  expect(await leadersOf("day", 10)).toEqual([]);
  await score("ada", 5);
  await score("cleo", 8);
  await score("dan", 5);
  expect(await leadersOf("day", 2)).toEqual([
    { user: "cleo", points: 8 },
    { user: "dan", points: 5 },
  ]);
  expect((await leadersOf("day", 10)).map(({ user }) => user)).toEqual(["cleo", "dan", "ada"]);
  expect(await Promise.all(["cleo", "ada", "dan", "bob", "eve"].map((user) => rankIn("day", user)))).toEqual([
    1,
    2,
    2,
    undefined,
    undefined,
  ]);
  expect(await leadersOf("month", 1)).toEqual([{ user: "bob", points: 90 }]);
});
