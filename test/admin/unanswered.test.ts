/** A server whose commit is made without an answer, and refused when it is repeated, as where a credential has expired in between. */
import { expect, test } from "vitest";
import { counter, ensureCounter, getExactTotal, incrementCounter, takeFromCounter } from "../../admin/src/index.ts";
import { commitTogether } from "../../admin/src/internal.ts";
import { aroundCommits } from "../../testkit/aroundCommits.ts";
import { admin } from "../../testkit/clients.ts";

const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

function unanswered() {
  let commits = 0;
  return aroundCommits(admin, async (commit) => {
    if (commits++ > 0) throw Object.assign(new Error("refused"), { code: UNAUTHENTICATED });
    await commit();
    throw Object.assign(new Error("no answer"), { code: UNAVAILABLE });
  });
}

test("looks up whether it counts; events of many senders are unknown, and no other commit counts them", async () => {
  const ids = ["views:unanswered", "views:together", "stock:unanswered"] as const;
  const [views, together, stock] = ids;
  await ensureCounter(counter(admin, stock), { bounded: true, initial: 5 });
  await incrementCounter(counter(unanswered(), views));
  expect(await takeFromCounter(counter(unanswered(), stock), 2)).toBe(2);
  const events = [{ receipt: undefined, counts: [{ counter: counter(unanswered(), together), by: 1 }] }];
  await expect(commitTogether(events, Date.now() + 20_000)).rejects.toMatchObject({ code: "counter/unknown-outcome" });
  expect(await Promise.all(ids.map((id) => getExactTotal(counter(admin, id))))).toEqual([1, 1, 3]);
});
