import { counter, getCounter, getTopCounters } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, refused, setUpProjects, until } from "./project.ts";

setUpProjects();

test("members of a team count and see its tasks; strangers and former members do not", async () => {
  const { db, server, increments, anotherUser } = await newProject("teams");
  const { finishTask, watchTasks } = await import("../../examples/teams/teams.ts");
  const { userId } = await import("../../examples/setup/firebase.ts");
  const membership = (team: string, uid: string) => server.doc(`teams/${team}/members/${uid}`);

  const member = await userId();
  await membership("acme", member).set({});
  await finishTask("acme");
  await finishTask("acme");
  const seen: number[] = [];
  const stop = watchTasks("acme", (finished) => seen.push(finished), console.error);
  await until(() => expect(seen.at(-1)).toBe(2));
  stop();
  // A member of one team is a stranger to the others.
  await refused(finishTask("other"));
  await refused(getCounter(counter(db, "tasks:other")));

  await membership("acme", member).delete();
  await refused(finishTask("acme"));

  await anotherUser();
  await refused(getCounter(counter(db, "tasks:acme")));
  await refused(finishTask("acme"));
  // The SDK's cache may show what the user before has seen, until the server refuses.
  const error = new Promise((denied) => watchTasks("acme", () => {}, denied));
  expect(await error).toMatchObject({ code: "permission-denied" });
  expect(await increments("tasks:acme")).toEqual({ sum: 2, writes: 2 });

  // Other groups stay readable, one counter at a time: a list has no id to ask for.
  expect((await getCounter(counter(db, "views:home"))).total).toBe(0);
  await refused(getTopCounters(db, "views"));
});
