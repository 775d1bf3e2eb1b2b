/** `firestore-tally/testing`, for the tests of apps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { counter, incrementCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { prepareFirestore } from "firestore-tally/testing";
import { afterAll, describe, expect, test, vi } from "vitest";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES } from "../../testkit/rules.ts";
import { readPublished } from "../../testkit/storedCounter.ts";

const browser = client();
afterAll(async () => {
  await browser.close();
  await loadRules(process.env.GCLOUD_PROJECT as string, OPEN_RULES);
});

describe("settled", () => {
  test("resolves with the total of all increments so far, from the web and the server SDK", async () => {
    const firestore = await prepareFirestore();
    const ref = counter(browser.db, "views:testing-both");
    await Promise.all(Array.from({ length: 4 }, () => incrementCounter(ref)));
    await server.incrementCounter(server.counter(admin, "views:testing-both"), 2.5);
    expect(await firestore.settled(ref)).toBe(6.5);
    expect((await readPublished("views:testing-both"))?.total).toBe(6.5);
  });

  test("works again after each change, and for ids with special characters of URLs", async () => {
    const firestore = await prepareFirestore();
    const ref = counter(browser.db, "views:testing-é %2F ?x#y");
    for (let n = 1; n <= 2; n++) {
      await incrementCounter(ref);
      expect(await firestore.settled(ref)).toBe(n);
    }
  });

  test("without functions, has direct increments, and rejects after the timeout for those on shards", async () => {
    const project = "demo-tally-unwatched";
    const firestore = await prepareFirestore({ projectId: project });
    const lonely = client(undefined, project);
    const { firestore: db } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, project);
    const id = "views:testing-lonely";
    const ref = counter(lonely.db, id);
    await incrementCounter(ref);
    expect(await firestore.settled(ref)).toBe(1);
    await server.incrementCounter(server.counter(db, id), 2);
    await expect(firestore.settled(ref, 200)).rejects.toMatchObject({
      code: "counter/emulator",
      message: expect.stringMatching(/has not settled in 200 ms: its increments sum to 3, its total is 1\..*functions/),
    });
    await firestore.clear();
    expect(await firestore.settled(ref)).toBe(0);
    await lonely.close();
  });

  test("reads and clears the named database, and that alone", async () => {
    const { FIRESTORE_EMULATOR_HOST = "" } = process.env;
    const projectId = "demo-tally-named";
    const databases = ["shop", "(default)"].map((name) => adminAt(FIRESTORE_EMULATOR_HOST, projectId, name));
    for (const { firestore } of databases) await server.incrementCounter(server.counter(firestore, "views:x"), 3);
    const firestore = await prepareFirestore({ projectId, database: "shop", packageRules: true });
    const ref = { path: "counters/views:x" };
    await expect(firestore.settled(ref, 200)).rejects.toThrow("its increments sum to 3, its total is missing");
    await firestore.clear();
    expect(await firestore.settled(ref)).toBe(0);
    await expect((await prepareFirestore({ projectId })).settled(ref, 200)).rejects.toThrow("its increments sum to 3");
    await Promise.all(databases.map(({ close }) => close()));
  });
});

describe("prepareFirestore", () => {
  const OPEN = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";
  const CLOSED = OPEN.replace("read, write", "read");

  /** Works in a folder below an app with this `firebase.json` and rules of this name. */
  async function inApp(firebaseJson: string, rules: string, work: () => Promise<void>): Promise<void> {
    const app = mkdtempSync(join(tmpdir(), "tally-app-"));
    const folder = join(app, "packages", "web");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(app, "firebase.json"), firebaseJson);
    writeFileSync(join(app, rules), CLOSED);
    vi.spyOn(process, "cwd").mockReturnValue(folder);
    await work().finally(() => {
      vi.restoreAllMocks();
      rmSync(app, { recursive: true });
    });
  }

  test("loads the app's rules, so that a policy that closes refuses; or the package's, or given ones", async () => {
    const projectId = "demo-tally-prepared";
    const phone = client(undefined, projectId);
    const ref = counter(phone.db, "views:x");
    const denied = { code: "counter/permission-denied" };
    await inApp('{ "firestore": { "rules": "own.rules" } }', "own.rules", async () => {
      await prepareFirestore({ projectId });
      await expect(incrementCounter(ref)).rejects.toMatchObject(denied);
      await prepareFirestore({ projectId, packageRules: true });
      await incrementCounter(ref);
      await expect(incrementCounter(ref, 5)).rejects.toMatchObject(denied);
      await prepareFirestore({ projectId, rules: OPEN });
      await incrementCounter(ref, 5);
    });
    await phone.close();
  });

  test.each<[why: string, firebaseJson: string, database: string | undefined, refusal: RegExp | undefined]>([
    [
      "a list, with comments",
      '[ /* "//" */ { "database": "shop" }, {"rules": ".//b.rules"} ] // }',
      undefined,
      undefined,
    ],
    [
      "the entry of a database",
      '[{ "rules": "no" }, { "database": "shop", "rules": ".//b.rules" }]',
      "shop",
      undefined,
    ],
    [
      "no entry of a database",
      '{ "rules": ".//b.rules" }',
      "shop",
      /firebase.json names no rules of the database "shop"; name/,
    ],
    [
      "no rules",
      '{ "indexes": "x" }',
      undefined,
      /names no rules of the database "\(default\)"; name the file of your rules/,
    ],
    [
      "a target, which names no database",
      '[{ "target": "main", "rules": "b.rules" }]',
      undefined,
      /names no rules of the database "\(default\)"/,
    ],
    [
      "a file that is missing",
      '{ "rules": "no.rules" }',
      undefined,
      /names the rules no.rules, and there is no such file/,
    ],
    ["what is no JSON", '{ "rules": }', undefined, /firebase.json is no JSON; correct it/],
  ])("firebase.json with %s", async (_, firestore, database, refusal) => {
    await inApp(`{ "firestore": ${firestore}\n }`, "b.rules", async () => {
      const prepared = prepareFirestore({ projectId: "demo-tally-named", database });
      if (!refusal) await prepared;
      else
        await expect(prepared).rejects.toMatchObject({
          code: "counter/emulator",
          message: expect.stringMatching(refusal),
        });
    });
  });

  test("rejects rules that do not compile, a missing emulator and a missing project, and says what to do", async () => {
    const refusal = (message: RegExp) => ({ code: "counter/emulator", message: expect.stringMatching(message) });
    await expect(prepareFirestore({ projectId: "demo-tally-bad", rules: "nonsense" })).rejects.toMatchObject(
      refusal(/securityRules answers 400/),
    );
    await expect(prepareFirestore({ host: "127.0.0.1:1" })).rejects.toMatchObject(
      refusal(/nothing answers at 127.0.0.1:1; start the Firestore emulator/),
    );
    vi.spyOn(process, "cwd").mockReturnValue("/");
    await expect(prepareFirestore()).rejects.toMatchObject(refusal(/no firebase.json in \/ or a folder above; name/));
    vi.restoreAllMocks();
    await expect(prepareFirestore({ rules: OPEN, packageRules: true })).rejects.toMatchObject(refusal(/pass one/));
    const { GCLOUD_PROJECT } = process.env;
    delete process.env.GCLOUD_PROJECT;
    await expect(prepareFirestore()).rejects.toMatchObject(refusal(/GCLOUD_PROJECT is not set; run the tests with/));
    process.env.GCLOUD_PROJECT = GCLOUD_PROJECT;
  });
});
