import { counter, incrementCounter } from "firestore-tally";
import * as admin from "firestore-tally/admin";
import { expect, test, vi } from "vitest";
import { newProject, projectWithFunctions, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a game writes sums, to the player's own score, up to 100 at a time", async () => {
  const { shards, db } = await newProject("scores");
  const { startGame } = await import("../../examples/scores/score.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  const game = await startGame();
  for (let hits = 0; hits < 25; hits++) game.hit(6);
  await game.end();
  const own = `score:${await userId()}`;
  expect(await shards(own)).toEqual({ sum: 150, writes: 2 });
  for (const by of [101, -1, 1.5]) await refused(incrementCounter(counter(db, own), by));
  await refused(incrementCounter(counter(db, "score:another"), 1));
  await refused(incrementCounter(counter(db, "views:home"), 2));
  await incrementCounter(counter(db, "views:home"));
});

test("the default rules refuse the sum, which is kept and refused again", async () => {
  await newProject();
  const { startGame } = await import("../../examples/scores/score.ts");
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const game = await startGame();
  game.hit(6);
  await refused(game.end());
  await refused(game.end());
  expect(log).toHaveBeenCalledTimes(2);
  log.mockRestore();
});

test("the leaderboard has the best first, and equal scores the same rank", async () => {
  const { server, total } = await projectWithFunctions();
  const { leaders, rankOf } = await import("../../examples/scores/leaderboard.ts");
  for (const [user, points] of Object.entries({ ada: 70, bob: 90, cleo: 70, dan: 10 })) {
    await admin.incrementCounter(admin.counter(server, `score:${user}`), points);
    await total(`score:${user}`);
  }
  expect(await leaders(1)).toEqual([{ user: "bob", total: 90 }]);
  expect(await leaders(10)).toHaveLength(4);
  const ranks = await Promise.all(["bob", "ada", "cleo", "dan", "eve"].map(rankOf));
  expect(ranks).toEqual([1, 2, 2, 4, undefined]);
});
