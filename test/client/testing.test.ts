/** `firestore-tally/testing`, for the tests of apps. */
import { counter, incrementCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { prepareFirestore } from "firestore-tally/testing";
import { afterAll, describe, expect, test } from "vitest";
import { admin, client } from "../../testkit/clients.ts";
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

  test("rejects after the timeout with the sum and the total, as in a project without functions", async () => {
    const firestore = await prepareFirestore({ projectId: "demo-tally-unwatched" });
    const lonely = client(undefined, "demo-tally-unwatched");
    const ref = counter(lonely.db, "views:testing-lonely");
    await incrementCounter(ref);
    await expect(firestore.settled(ref, 200)).rejects.toMatchObject({
      code: "counter/emulator",
      message: expect.stringMatching(/has not settled in 200 ms: its shards hold 1, published is nothing.*functions/),
    });
    await firestore.clear();
    expect(await firestore.settled(ref)).toBe(0);
    await lonely.close();
  });
});

describe("prepareFirestore", () => {
  test("loads the rules of the package, or given ones", async () => {
    const projectId = "demo-tally-prepared";
    const phone = client(undefined, projectId);
    const ref = counter(phone.db, "views:x");
    await prepareFirestore({ projectId });
    await expect(incrementCounter(ref, 5)).rejects.toMatchObject({ code: "counter/permission-denied" });
    await prepareFirestore({
      projectId,
      rules: "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }",
    });
    await incrementCounter(ref, 5);
    await phone.close();
  });

  test("rejects rules that do not compile, a missing emulator and a missing project, and says what to do", async () => {
    const refusal = (message: RegExp) => ({ code: "counter/emulator", message: expect.stringMatching(message) });
    await expect(prepareFirestore({ projectId: "demo-tally-bad", rules: "nonsense" })).rejects.toMatchObject(
      refusal(/securityRules answers 400/),
    );
    await expect(prepareFirestore({ host: "127.0.0.1:1" })).rejects.toMatchObject(
      refusal(/nothing answers at 127.0.0.1:1; start the Firestore emulator/),
    );
    const { GCLOUD_PROJECT } = process.env;
    delete process.env.GCLOUD_PROJECT;
    await expect(prepareFirestore()).rejects.toMatchObject(refusal(/GCLOUD_PROJECT is not set; run the tests with/));
    process.env.GCLOUD_PROJECT = GCLOUD_PROJECT;
  });
});
