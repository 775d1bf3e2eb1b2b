import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

setUpProjects();

test("views and visitors are shown beside each other, and united over pages", { tags: "deep" }, async () => {
  const { total, anotherUser } = await projectWithFunctions();
  const { countVisit, showVisits } = await import("../../examples/visitors/visitors.ts");
  const { countSession, readersOf } = await import("../../examples/visitors/readers.ts");
  const label = { textContent: "" as string | null };
  const stop = showVisits("home", label);
  for (let n = 0; n < 3; n++) await countVisit("home");
  await anotherUser();
  await countVisit("home");
  await countVisit("about");
  expect(await total("views:home")).toBe(4);
  await until(() => expect(label.textContent).toBe("4 views by 2 people"));
  stop();
  await countSession("about", "a session");
  await until(async () => expect(await readersOf(["home", "about"])).toBe(3));
});
