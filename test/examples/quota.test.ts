import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("each API key has 100 requests at once, and is told when to try again", async () => {
  const { server } = await projectWithFunctions();
  const { admit } = await import("../../examples/quota/quota.ts");
  const responses = await Promise.all(Array.from({ length: 105 }, () => admit("alice")));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(responses[104]).toEqual({ status: 429, headers: { "Retry-After": "1" } });
  expect(await admit("bob")).toEqual({ status: 200, headers: {} });
  const stored = await server.collection("tallyServerLimits/requests/tallyKeys").get();
  expect(stored.docs.map(({ id }) => id)).toEqual(["alice", "bob"]);
});
