/** `firestore-tally/testing`, for the tests of apps. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Firestore } from "@google-cloud/firestore";
import { deleteApp, initializeApp } from "firebase/app";
import { getFirestore } from "firebase/firestore";
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
  test("resolves with the total of all increments so far, from the web and the server SDK, for any id", async () => {
    const firestore = await prepareFirestore();
    const id = "views:testing-é %2F ?x#y";
    const ref = counter(browser.db, id);
    await Promise.all(Array.from({ length: 4 }, () => incrementCounter(ref)));
    expect(await firestore.settled(ref)).toBe(4);
    await server.incrementCounter(server.counter(admin, id), 2.5);
    expect(await firestore.settled(ref)).toBe(6.5);
    expect((await readPublished(id))?.total).toBe(6.5);
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

describe("the database of a counter", () => {
  const prepared = "demo-tally-compared";
  const refusal = (pass: string) => ({
    code: "counter/emulator",
    message: expect.stringContaining(`, which was prepared; pass { ${pass} } to prepareFirestore`),
  });

  test.each([
    [{}, prepared, "shop", 'database: "shop"'],
    [{ database: "shop" }, prepared, "(default)", 'database: "(default)"'],
    [{}, "demo-tally-other", "(default)", 'projectId: "demo-tally-other"'],
    [{}, "demo-tally-other", "shop", 'projectId: "demo-tally-other", database: "shop"'],
  ])("is compared by settled: prepared with %j, the counter in %s, %s", async (options, projectId, database, pass) => {
    const firestore = await prepareFirestore({ projectId: prepared, packageRules: true, ...options });
    const app = initializeApp({ projectId, apiKey: "any" }, `${projectId} ${database}`);
    const web = counter(getFirestore(app, database), "views:x");
    const { firestore: db, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, projectId, database);
    for (const ref of [web, server.counter(db, "views:x")]) {
      await expect(firestore.settled(ref)).rejects.toMatchObject(refusal(pass));
    }
    await Promise.all([deleteApp(app), close()]);
  });

  test("a counter of that database, a path, and what does not tell its database are accepted", async () => {
    const projectId = prepared;
    const firestore = await prepareFirestore({ projectId, database: "shop", packageRules: true });
    const app = initializeApp({ projectId, apiKey: "any" }, "same");
    const { firestore: db, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, projectId, "shop");
    const refs = [
      counter(getFirestore(app, "shop"), "views:x"),
      server.counter(db, "views:x"),
      // The server SDK may not know its project before its first call.
      server.counter(new Firestore({ databaseId: "shop" }), "views:x"),
      { path: "counters/views:x" },
      { path: "counters/views:x", firestore: {} },
    ];
    for (const ref of refs) expect(await firestore.settled(ref)).toBe(0);
    await Promise.all([deleteApp(app), close()]);
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

  test.each([
    ["a list, with comments", '[ /* "//" */ { "database": "shop" }, {"rules": ".//b.rules"} ] // }', undefined],
    ["the entry of a database", '[{ "rules": "no" }, { "database": "shop", "rules": ".//b.rules" }]', "shop"],
  ])("reads %s of firebase.json", async (_, firestore, database) => {
    await inApp(`{ "firestore": ${firestore}\n }`, "b.rules", async () => {
      await prepareFirestore({ projectId: "demo-tally-named", database });
    });
  });

  const refusal = (message: RegExp) => ({ code: "counter/emulator", message: expect.stringMatching(message) });

  test.each([
    ["no entry of a database", '{ "rules": "b.rules" }', "shop", /names no rules of the database "shop"; name/],
    ["no rules", '{ "indexes": "x" }', undefined, /names no rules of the database "\(default\)"; name/],
    ["a target, which is no database", '{ "target": "main", "rules": "b.rules" }', undefined, /names no rules of the/],
    ["a missing file", '{ "rules": "no.rules" }', undefined, /names the rules no.rules, and there is no such file/],
    ["what is no JSON", '{ "rules": }', undefined, /firebase.json is no JSON; correct it/],
  ])("rejects firebase.json with %s", async (_, firestore, database, message) => {
    await inApp(`{ "firestore": ${firestore} }`, "b.rules", async () => {
      const prepared = prepareFirestore({ projectId: "demo-tally-named", database });
      await expect(prepared).rejects.toMatchObject(refusal(message));
    });
  });

  test("rejects rules that do not compile, a missing emulator and a missing project, and says what to do", async () => {
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
