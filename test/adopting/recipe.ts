/**
 * Apps that count by hand, after the public recipe (https://firebase.google.com/docs/firestore/solutions/counters): `num_shards` in the
 * counter, shards with a `count`, and an update of a random shard for each increment; in older apps by a transaction.
 */
import { collection, doc, getDocs, increment, runTransaction, updateDoc } from "firebase/firestore";
import { FieldValue } from "firebase-admin/firestore";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { loadRules, withPolicy } from "../../testkit/rules.ts";

/** An old app, on one device or server. It has its number of shards in its code. */
export interface OldApp {
  readonly name: string;
  increment(counter: string): Promise<unknown>;
  total(counter: string): Promise<number>;
  close(): Promise<void>;
}

type Way = "increment" | "transaction";

const randomShard = (numShards: number) => `${Math.floor(Math.random() * numShards)}`;
const sumOf = (docs: readonly { get(field: string): unknown }[]) =>
  docs.reduce((sum, shard) => sum + (shard.get("count") as number), 0);

/** A web page without an account. */
export function oldPage(way: Way, numShards: number): OldApp {
  const { db, close } = client();
  const shards = (counter: string) => collection(db, "counters", counter, "shards");
  return {
    name: `page, by ${way}`,
    async increment(counter) {
      const shard = doc(shards(counter), randomShard(numShards));
      if (way === "increment") return await updateDoc(shard, { count: increment(1) });
      await runTransaction(db, async (transaction) => {
        const { count } = (await transaction.get(shard)).data() as { count: number };
        transaction.update(shard, { count: count + 1 });
      });
    },
    total: async (counter) => sumOf((await getDocs(shards(counter))).docs),
    close,
  };
}

/** A server with the Admin SDK. */
export function oldServer(way: Way, numShards: number): OldApp {
  const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string);
  const shards = (counter: string) => firestore.collection(`counters/${counter}/shards`);
  return {
    name: `server, by ${way}`,
    async increment(counter) {
      const shard = shards(counter).doc(randomShard(numShards));
      if (way === "increment") return await shard.update({ count: FieldValue.increment(1) });
      await firestore.runTransaction(async (transaction) => {
        const { count } = (await transaction.get(shard)).data() as { count: number };
        transaction.update(shard, { count: count + 1 });
      });
    },
    total: async (counter) => sumOf((await shards(counter).get()).docs),
    close,
  };
}

/** Creates a counter as the recipe does: one batch. */
export async function createByHand(counter: string, numShards: number, count = 0): Promise<void> {
  const document = admin.doc(`counters/${counter}`);
  const batch = admin.batch();
  batch.set(document, { num_shards: numShards });
  for (let n = 0; n < numShards; n++) batch.set(document.collection("shards").doc(`${n}`), { count });
  await batch.commit();
}

/**
 * Loads rules that let old and new clients count `hits:…`, and no other group.
 *
 * @param amount  what a write of an old client may add, if not by default
 */
export async function openToOldApps(defaults: string, amount = "by in [0, 1]"): Promise<void> {
  const inHits = (name: string) => `function ${name}() {\n        return counterGroup() in ['hits'];\n      }`;
  const open = ["isOpen", "acceptsOldClients"].reduce((text, name) => withPolicy(text, inHits(name)), defaults);
  const rules = withPolicy(open, `function isAllowedOldAmount(by) {\n        return ${amount};\n      }`);
  await loadRules(process.env.GCLOUD_PROJECT as string, rules);
}
