/** The requests of a server in another language. curl sends them as they are printed. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { counter, incrementCounter, undoIncrement } from "firestore-tally/admin";
import { expect, test } from "vitest";
import { serveFunction } from "../../testkit/functionServer.ts";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

const { GCLOUD_PROJECT: PROJECT, FIRESTORE_EMULATOR_HOST } = process.env;

/** @returns what the server answers */
async function run(name: string, variables: Record<string, string> = {}) {
  const env = { ...process.env, PROJECT, FIRESTORE: `http://${FIRESTORE_EMULATOR_HOST}`, TOKEN: "owner", ...variables };
  const { stdout } = await promisify(execFile)("bash", [`examples/rest/${name}.sh`], { env: env as NodeJS.ProcessEnv });
  return JSON.parse(stdout);
}

test("increments over REST count once, also if they are sent again, and the total is read", async () => {
  const { server, total } = await projectWithFunctions();
  const downloads = counter(server, "downloads:app");
  const exists = { error: { code: 409, status: "ALREADY_EXISTS" } };

  expect(await run("total")).toEqual([
    { missing: expect.stringMatching(/downloads:app$/), readTime: expect.anything() },
  ]);
  expect(await run("increment", { ONCE: "order-17" })).toHaveProperty("commitTime");
  expect(await run("increment", { ONCE: "order-17" })).toMatchObject(exists);
  const receipt = { RECEIPT: "5d0e7c7e", TOMORROW: new Date(Date.now() + 86_400_000).toISOString() };
  expect(await run("receipt", receipt)).toHaveProperty("commitTime");
  expect(await run("receipt", receipt)).toMatchObject(exists);
  expect(await run("receipt", { ...receipt, RECEIPT: "5d0e7c7f" })).toHaveProperty("commitTime");
  expect(await total(downloads.id)).toBe(3);
  expect(await run("total")).toMatchObject([{ found: { fields: { total: { integerValue: "3" } } } }]);

  // It is an entry as the library writes it, so the library knows it, and can undo it.
  await incrementCounter(downloads, 1, { once: "order-17" });
  await undoIncrement(downloads, "order-17");
  expect(await total(downloads.id)).toBe(2);
});

test("a batch sent to ingest by curl counts once", { tags: ["deep"] }, async () => {
  const ingest = await serveFunction("ingest", { INGEST_COUNTERS: "downloads:app" });
  const { increments } = await projectWithFunctions();
  const before = (await increments("downloads:app")).sum;
  const batch = { INGEST: ingest.url, BATCH: "0d8b7c7e" };
  expect(await run("ingest", batch)).toMatchObject({ counted: 1, duplicates: 0 });
  expect(await run("ingest", batch)).toMatchObject({ counted: 0, duplicates: 1 });
  expect((await increments("downloads:app")).sum).toBe(before + 3);
  await ingest.kill();
});
