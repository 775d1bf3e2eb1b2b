import { test } from "vitest";
import { serveFunction } from "../../testkit/functionServer.ts";
import { until } from "../../testkit/until.ts";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("a page counts and shows views without Firebase, and a server sees what users search for", {
  tags: ["deep"],
}, async () => {
  const [ingest, totals] = await Promise.all([
    serveFunction("ingest", { ITEMS: "yes", INGEST_COUNTERS: "/views:.*/, searches" }),
    serveFunction("totals", { TOTALS_COUNTERS: "views:*" }),
  ]);
  Object.assign(process.env, { INGEST_URL: ingest.url, TOTALS_URL: totals.url });
  const { increments } = await projectWithFunctions();
  const { countView } = await import("../../examples/events/page.ts");
  const seen: number[] = [];
  const stop = countView("events", (views) => seen.push(views));
  await until(() => seen.at(-1) === 1, "the view");
  await until(async () => (await increments("views:events")).sum === 1, "the view to be counted");

  const { countSearch, trends } = await import("../../examples/events/searches.ts");
  for (const id of ["search 1", "search 2", "search 2"]) await countSearch("shoes", id);
  await until(async () => (await trends()).includes("shoes: 2"), "the trends");
  stop();
  await Promise.all([ingest.kill(), totals.kill()]);
});
