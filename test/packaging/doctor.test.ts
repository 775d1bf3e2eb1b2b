/** The command line on a whole Emulator Suite: the rules, the functions as its hub tells them, and what they have published. */
import { incrementCounter as increment, counter as webCounter } from "firestore-tally";
import { counter, incrementCounter } from "firestore-tally/admin";
import { beforeAll, expect, test } from "vitest";
import { CLI, cliProject, startProgram } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const { clear, json } = cliProject(process.env.GCLOUD_PROJECT as string);

beforeAll(() => clear());

test("where clients and servers count by the deployed rules and functions, doctor finds nothing", async () => {
  const page = client();
  await increment(webCounter(page.db, "views:doctor"));
  await incrementCounter(counter(admin, "views:server"), 5);
  await until(async () => (await readPublished("views:doctor"))?.total === 1, "the total");
  await until(async () => (await readPublished("views:server"))?.total === 5, "the total of the server's counter");
  await page.close();
  for (const [id, total] of [
    ["views:doctor", 1],
    ["views:server", 5],
  ] as const) {
    const right = { published: { total }, exact: { total }, difference: 0, warnings: [] };
    expect(await json("inspect", id)).toMatchObject(right);
  }

  const { exitCode, stdout } = await startProgram(process.execPath, [CLI, "doctor", "--json"]).ended;
  const { unseen, ...report } = JSON.parse(stdout);
  expect(report).toMatchObject({ findings: [], errors: 0, warnings: 0, counters: 2, allCounters: true });
  expect(exitCode).toBe(0);
  expect(unseen.map(({ part }: { part: string }) => part)).toEqual(
    expect.not.arrayContaining(["rules", "functions", "counters"]),
  );
  const strict = await startProgram(process.execPath, [CLI, "doctor", "--strict"]).ended;
  expect(strict).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("Nothing is wrong.") });
});
