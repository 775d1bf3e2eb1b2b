import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a game writes sums, to the player's own score, up to 100 at a time", async () => {
  const { increments, db } = await newProject("scores");
  const { startGame } = await import("../../examples/scores/score.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  const game = await startGame();
  for (let hits = 0; hits < 25; hits++) game.hit(6);
  await game.end();
  const own = `score:${await userId()}`;
  expect(await increments(own)).toEqual({ sum: 150, writes: 2 });
  for (const by of [101, -1, 1.5]) await refused(incrementCounter(counter(db, own), by));
  await refused(incrementCounter(counter(db, "score:another"), 1));
  await refused(incrementCounter(counter(db, "views:home"), 2));
  await incrementCounter(counter(db, "views:home"));
});
