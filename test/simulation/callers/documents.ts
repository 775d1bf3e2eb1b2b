/** An app's own documents: orders, which it counts in the same commit, posts of a counted collection, pages with a mirror. */

import type { Firestore } from "firebase-admin/firestore";
import { counter } from "../../../admin/src/counter.ts";
import { incrementCounterIn } from "../../../admin/src/increment.ts";
import { counter as webCounter } from "../../../client/src/web/counter.ts";
import { incrementCounter as incrementCounterOfWeb } from "../../../client/src/web/increment.ts";
import { FieldValue } from "../model/adminSdk.ts";
import { ORDERS, POSTS } from "../scenario/scenario.ts";
import type { Handlers, Processes } from "./processes.ts";

export function documents(
  processes: Processes,
): Handlers<"order" | "cancel" | "drift" | "strayIncrement" | "post" | "unpost" | "page" | "unpage"> {
  // The app handles failures of all these calls.
  const ignore = () => undefined;

  function put(path: string): void {
    processes.startServer("app").firestore.doc(path).set({ title: "any" }, { merge: true }).catch(ignore);
  }
  function remove(path: string): void {
    processes.startServer("app").firestore.doc(path).delete().catch(ignore);
  }

  return {
    order: ({ server, order }) => void setOrder(processes.server(server).firestore, order, true).catch(ignore),
    cancel: ({ server, order }) => void setOrder(processes.server(server).firestore, order, false).catch(ignore),
    drift({ by }) {
      const { process, firestore } = processes.startServer("drift");
      processes.oracle.setIntent(process, { kind: "anything" });
      firestore
        .doc(`counters/${ORDERS.counter}/shards/0`)
        .set({ count: FieldValue.increment(by) } as never, { merge: true })
        .catch(ignore);
    },
    /** By a client that keeps to the rules, and has no order. */
    strayIncrement() {
      const { process, firestore } = processes.startClient("stray");
      processes.oracle.setIntent(process, { kind: "anything" });
      incrementCounterOfWeb(webCounter(firestore, ORDERS.counter)).catch(ignore);
    },
    post: ({ post }) => put(`${POSTS}/${post}`),
    unpost: ({ post }) => remove(`${POSTS}/${post}`),
    page: ({ page }) => put(page),
    unpage: ({ page }) => remove(page),
  };
}

/** Creates or deletes an order together with its increment, in one commit. */
async function setOrder(firestore: Firestore, id: string, isNew: boolean): Promise<void> {
  const document = firestore.doc(`${ORDERS.collection}/${id}`);
  const ref = counter(firestore, ORDERS.counter);
  await firestore.runTransaction(async (transaction) => {
    const { exists } = await transaction.get(document);
    if (exists === isNew) return;
    if (isNew) transaction.create(document, {});
    else transaction.delete(document);
    incrementCounterIn(transaction, ref, isNew ? 1 : -1);
  });
}
