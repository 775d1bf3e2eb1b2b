/** `exchange` between two databases of the emulator. */
import { Firestore } from "@google-cloud/firestore";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";

const PROJECT = "demo-cli-exchange";
const { db, run, json, counter: make, clear } = cliProject(PROJECT);

beforeEach(async () => {
  await clear();
  await clear("cli-eu");
});
afterAll(async () => await db.terminate());

describe("exchange", () => {
  const europe = new Firestore({ projectId: PROJECT, databaseId: "cli-eu" });
  afterAll(() => europe.terminate());
  const regions = ["--regions", "us=(default), eu=cli-eu"];

  test("brings counters without writes to a region that was added, and may be repeated", async () => {
    await make("views:a", [1, 2], { shardCount: 2 });
    await make("views:b", [5], { shardCount: 1 });
    const { counters } = await json("exchange", "--group", "views", ...regions);
    expect(counters).toEqual([{ id: "views:a" }, { id: "views:b" }]);
    const brought = await europe.doc("counters/views:a").get();
    expect(brought.data()).toMatchObject({ group: "views", globalTotal: 3, regions: { us: { total: 3 } } });
    await json("exchange", "views:a", ...regions);
    expect((await europe.doc("counters/views:a").get()).updateTime).toEqual(brought.updateTime);
  });

  test("goes on after a counter that a region cannot hold, and tells which", async () => {
    for (const id of ["views:a", "views:b", "views:c"]) await make(id, [1], { shardCount: 1 });
    // A document of a megabyte at most: the total does not fit in.
    await europe.doc("counters/views:b").set({ other: "x".repeat(1_048_400) });
    const { exitCode, stdout, stderr } = await run("exchange", "--group", "views", ...regions, "--json");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("failed views:b: could not be pushed to eu");
    expect(stderr).toContain("1 of 3 counters failed");
    expect(JSON.parse(stdout).counters.map(({ id }: { id: string }) => id)).toEqual(["views:a", "views:b", "views:c"]);
    expect((await europe.doc("counters/views:c").get()).get("globalTotal")).toBe(1);
  });

  test("refuses a name by which the counters do not know a region, its own or another's, before anything is brought", async () => {
    await make("views:a", [1, 2], { shardCount: 2 });
    await db.doc("counters/views:a").update({ "regions.eu": { total: 4, asOf: new Date(), windows: null } });
    await json("exchange", "views:a", ...regions);
    const before = await europe.doc("counters/views:a").get();
    for (const [list, reason] of [
      ["su=(default), eu=cli-eu", "names a region su that the counters know as us"],
      ["us=(default), ue=cli-eu", "names a region ue that the counters know as eu"],
    ] as const) {
      const { exitCode, stderr } = await run("exchange", "views:a", "--regions", list);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(reason);
    }
    expect((await europe.doc("counters/views:a").get()).updateTime).toEqual(before.updateTime);
    await json("exchange", "views:a", "--regions", "us=(default), eu=cli-eu, asia=cli-asia");
  });
});
