/** The other ways in which apps count by hand: a field that every client increments, and a function that counts documents into a field. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { doc, increment, runTransaction, updateDoc } from "firebase/firestore";
import { FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import { loadRules, withPolicy } from "../../testkit/rules.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const { db, json } = cliProject(process.env.GCLOUD_PROJECT as string);
const [oldPage, newPage] = [client(), client()];

beforeAll(async () => {
  const rules = withPolicy(
    readFileSync("firestore.rules", "utf8"),
    "function isOpen() {\n        return counterGroup() in ['stars'];\n      }",
  );
  const own = "match /walls/{wall} { allow get, update; }";
  await loadRules(
    process.env.GCLOUD_PROJECT as string,
    rules.replace(/(match \/databases\/\{\w+\}\/documents \{)/, `$1\n${own}`),
  );
});
afterAll(async () => {
  await Promise.all([oldPage, newPage].map(({ close }) => close()));
  await db.terminate();
});

const migrate = () => json("migrate", "--map", "walls/{wall}.stars=stars:{wall}", "--yes");

test("old apps increment a field, new ones its counter, and migrate runs beside them: the field has each increment once", async () => {
  const wall = admin.doc("walls/home");
  await wall.set({ stars: 1_000, title: "kept" });
  await migrate();
  let total = 1_000;
  const times = async (many: number, act: () => Promise<unknown>) => {
    for (let n = 0; n < many; n++) {
      await act();
      total++;
    }
  };
  const field = doc(oldPage.db, "walls/home");
  const oldWays = [
    () => updateDoc(field, { stars: increment(1) }),
    () => wall.update({ stars: FieldValue.increment(1) }),
    () =>
      runTransaction(oldPage.db, async (transaction) => {
        const { stars } = (await transaction.get(field)).data() as { stars: number };
        transaction.update(field, { stars: stars + 1 });
      }),
  ];
  const newWay = () => incrementCounter(counter(newPage.db, "stars:home"));
  await Promise.all([
    ...oldWays.map((way) => times(15, way)),
    times(30, newWay),
    (async () => {
      for (let n = 0; n < 4; n++) await migrate();
    })(),
  ]);
  await until(async () => (await wall.get()).get("stars") === total, "the field to have all");
  // The last old app is gone.
  await migrate();
  await until(async () => (await readPublished("stars:home"))?.total === total, "the counter to have all");
  await times(3, newWay);
  await until(async () => (await wall.get()).get("stars") === total, "the field to go on");
  expect(await sumOfIncrements("stars:home")).toBe(total);
  expect((await wall.get()).data()).toEqual({ stars: total, title: "kept" });
});

test("a function of the app's own that counts documents leaves a wrong field no longer than until the next document", async () => {
  const post = admin.doc("posts/adopted");
  const comments = post.collection("comments");
  await post.set({ comments: 0 });
  const shows = (total: number) =>
    until(async () => (await post.get()).get("comments") === total, `the field to show ${total}`);
  /** What the app's own function does for a new document, when its event arrives. */
  const ownFunction = () => post.update({ comments: FieldValue.increment(1) });
  for (let n = 0; n < 3; n++) await comments.add({ n });
  await shows(3);
  // Its events come after the publish.
  await Promise.all([ownFunction(), ownFunction()]);
  await sleep(500);
  expect((await post.get()).get("comments")).toBe(5);
  // It was deleted. The next document sets the field.
  await comments.add({ n: 3 });
  await shows(4);
});
