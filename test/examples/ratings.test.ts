import { counter, incrementCounter } from "firestore-tally";
import * as admin from "firestore-tally/admin";
import { expect, test } from "vitest";
import { newProject, projectWithFunctions, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a user rates once, from 1 to 5, and may take it back", async () => {
  const { increments, db, anotherUser } = await newProject("ratings");
  const { rate, unrate } = await import("../../examples/ratings/ratings.ts");
  const sums = async () => [(await increments("ratingSum:x")).sum, (await increments("ratingCount:x")).sum];
  await rate("x", 5);
  await rate("x", 1);
  expect(await sums()).toEqual([5, 1]);
  await anotherUser();
  for (const stars of [0.5, 6, -1]) await refused(rate("x", stars));
  await rate("x", 2);
  expect(await sums()).toEqual([7, 2]);
  await unrate("x");
  await unrate("x");
  expect(await sums()).toEqual([5, 1]);
  await rate("x", 4);
  expect(await sums()).toEqual([9, 2]);
  // A rating needs a `once`, and a like is still worth 1.
  await refused(incrementCounter(counter(db, "ratingCount:x"), 1));
  await refused(incrementCounter(counter(db, "likes:x"), 5, { once: "ada" }));
});

test("the average is the sum over the number", async () => {
  const { server, total } = await projectWithFunctions();
  const { averageOf } = await import("../../examples/ratings/ratings.ts");
  expect(await averageOf("y")).toBeUndefined();
  await admin.incrementCounter(admin.counter(server, "ratingSum:y"), 9);
  await admin.incrementCounter(admin.counter(server, "ratingCount:y"), 2);
  await Promise.all([total("ratingSum:y"), total("ratingCount:y")]);
  expect(await averageOf("y")).toBe(4.5);
});
