/** A server whose commit is made without an answer, and refused when it is repeated, as where a credential has expired in between. */
import { afterEach, expect, test } from "vitest";
import { counter, ensureCounter, getExactTotal, incrementCounter, takeFromCounter } from "../../admin/src/index.ts";
import { commitTogether } from "../../admin/src/internal.ts";
import { adminAt } from "../../testkit/clients.ts";

const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string);
const batch = firestore.batch.bind(firestore);
afterEach(close);

function failFromNowOn(): void {
  let commits = 0;
  firestore.batch = () => {
    const one = batch();
    const commit = one.commit.bind(one);
    one.commit = async () => {
      if (commits++ > 0) throw Object.assign(new Error("refused"), { code: UNAUTHENTICATED });
      await commit();
      throw Object.assign(new Error("no answer"), { code: UNAVAILABLE });
    };
    return one;
  };
}

test("looks up whether it counts; events of many senders are unknown, and no other commit counts them", async () => {
  const views = counter(firestore, "views:unanswered");
  const together = counter(firestore, "views:together");
  const stock = counter(firestore, "stock:unanswered");
  await ensureCounter(stock, { bounded: true, initial: 5 });
  failFromNowOn();
  await incrementCounter(views);
  failFromNowOn();
  expect(await takeFromCounter(stock, 2)).toBe(2);
  failFromNowOn();
  const events = [{ receipt: undefined, counts: [{ counter: together, by: 1 }] }];
  await expect(commitTogether(events, Date.now() + 20_000)).rejects.toMatchObject({ code: "counter/unknown-outcome" });
  expect(await Promise.all([views, together, stock].map((ref) => getExactTotal(ref)))).toEqual([1, 1, 3]);
});
