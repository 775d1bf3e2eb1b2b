import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

setUpProjects();

test("every view counts and is shown", async () => {
  const { total } = await projectWithFunctions();
  const { countView, showViews } = await import("../../examples/views/views.ts");
  await Promise.all([countView("page"), countView("page")]);
  const label = { textContent: "" };
  const stop = showViews("page", label);
  await countView("page");
  await until(() => expect(label.textContent).toBe("3 views"));
  stop();
  expect(await total("views:page")).toBe(3);
});
