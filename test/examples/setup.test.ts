import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("a user stays the same until signed out", async () => {
  const { anotherUser } = await projectWithFunctions();
  const { userId } = await import("../../examples/setup/firebase.ts");
  const user = await userId();
  expect(await userId()).toBe(user);
  await anotherUser();
  expect(await userId()).not.toBe(user);
});
