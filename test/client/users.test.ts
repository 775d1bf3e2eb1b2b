/** What is shown when another user signs in: never what waits in the queue of the user before. */
import { memoryLocalCache, memoryLruGarbageCollector } from "firebase/firestore";
import { counter, counterStore, incrementCounter, onIncremented } from "firestore-tally";
import { afterEach, expect, test } from "vitest";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { until } from "../../testkit/until.ts";

let one: Client;
let ends: (() => void)[] = [];
afterEach(async () => {
  for (const end of ends) end();
  ends = [];
  await goOnline(one.db);
  await one.close();
});

/** Watches a counter, and whether a user's increment counts. */
function watch(id: string, once: string) {
  const ref = counter(one.db, id);
  const store = counterStore(ref);
  let counts: boolean | undefined;
  ends.push(
    store.subscribe(() => {}),
    onIncremented(ref, once, (now) => {
      counts = now;
    }),
  );
  const shown = () => {
    const { total, pending } = store.getSnapshot();
    return { total, pending, counts };
  };
  const shows = (total: number, pending: boolean, now: boolean) => {
    const expected = { total, pending, counts: now };
    const isShown = () => JSON.stringify(shown()) === JSON.stringify(expected);
    return until(isShown, `${JSON.stringify(expected)} after ${JSON.stringify(shown())}`, 20_000);
  };
  return { ref, shown, shows };
}

/** A counter whose increments go to its document, and one whose go to shards, because it is closed. */
const KINDS = ["direct", "shards"];

test.each(KINDS)(
  "a like that waits is not shown to the next user, and again when its user is back (%s)",
  async (kind) => {
    const id = `likes:users-${kind}`;
    if (kind === "shards") await admin.doc(`counters/${id}`).set({ group: "likes", total: 0, shardCount: 1 });
    one = client();
    const [ada, bob] = [`ada-${kind}`, `bob-${kind}`];
    await signIn(one, ada);
    const { ref, shown, shows } = watch(id, ada);
    await shows(0, false, false);
    await goOffline(one.db);
    incrementCounter(ref, 1, { once: ada });
    await shows(1, true, true);

    await signIn(one, bob);
    await shows(0, false, false);
    incrementCounter(ref, 1, { once: bob });
    await until(() => shown().total === 1, "the like of the next user");
    expect(shown()).toEqual({ total: 1, pending: true, counts: false });

    await goOnline(one.db);
    await until(() => shown().total === 1 && !shown().pending, "its outcome", 20_000);
    await signIn(one, ada);
    await until(() => shown().total === 2 && !shown().pending, "the first like", 20_000);
    await shows(2, false, true);
  },
);

test.each(["opened:users", "views:users"])(
  "an increment of %s without once is not shown to the next user either",
  async (id) => {
    one = client();
    await signIn(one, "ada-plain");
    const { ref, shown } = watch(id, "ada-plain");
    const shows = (total: number, pending: boolean) =>
      until(() => shown().total === total && shown().pending === pending, `${total}, pending: ${pending}`, 20_000);
    await shows(0, false);
    await goOffline(one.db);
    const both = Promise.all([incrementCounter(ref), incrementCounter(ref)]);
    await shows(2, true);
    await signIn(one, "bob-plain");
    await shows(0, false);
    await signIn(one, "ada-plain");
    await shows(2, true);
    await goOnline(one.db);
    await both;
    await shows(2, false);
  },
);

test.each(["opened:unseen", "views:unseen"])(
  "an increment of %s that no watch has seen is not shown to the next user",
  async (id) => {
    one = client(undefined, undefined, {
      localCache: memoryLocalCache({ garbageCollector: memoryLruGarbageCollector() }),
    });
    await signIn(one, "ada-unseen");
    const before = watch(id, "ada-unseen");
    await incrementCounter(before.ref);
    await before.shows(1, false, false);
    for (const end of ends) end();
    ends = [];
    await goOffline(one.db);
    const unseen = incrementCounter(before.ref);
    await signIn(one, "bob-unseen");
    const ofBob = watch(id, "bob-unseen");
    await until(() => ofBob.shown().total === 1 && !ofBob.shown().pending, `1 after ${JSON.stringify(ofBob.shown())}`);
    await signIn(one, "ada-unseen");
    await until(() => ofBob.shown().total === 2 && ofBob.shown().pending === true, "the increment");
    await goOnline(one.db);
    await unseen;
    await until(() => ofBob.shown().total === 2 && ofBob.shown().pending === false, "its outcome");
  },
);
