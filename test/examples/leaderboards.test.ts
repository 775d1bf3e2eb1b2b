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
  for (const [user, points] of Object.entries({ eda: 700, fay: 900, gus: 200, hal: 100 })) await score(user, points);
  // As if these scores were of yesterday.
  for (const document of (await server.collection("counters").where("group", "==", "score").get()).docs) {
    const { seconds } = document.get("windows.day.until");
    await document.ref.update({ "windows.day.until": new Date((seconds - 86_400) * 1_000) });
  }
  expect(await leadersOf("day", 10)).toEqual([]);
  await score("eda", 5);
  await score("gus", 8);
  await score("hal", 5);
  expect(await leadersOf("day", 2)).toEqual([
    { user: "gus", points: 8 },
    { user: "hal", points: 5 },
  ]);
  expect((await leadersOf("day", 10)).map(({ user }) => user)).toEqual(["gus", "hal", "eda"]);
  expect(await Promise.all(["gus", "eda", "hal", "fay", "eve"].map((user) => rankIn("day", user)))).toEqual([
    1,
    2,
    2,
    undefined,
    undefined,
  ]);
  expect(await leadersOf("month", 1)).toEqual([{ user: "fay", points: 900 }]);
});
