/**
 * Clients of Google's counter: they increment fields of their own shard, and show the field and this shard as one total
 * (testkit/legacy/README.md).
 */
import { randomUUID } from "node:crypto";
import { doc, increment, onSnapshot, setDoc } from "firebase/firestore";
import { FieldValue, type Firestore } from "firebase-admin/firestore";
import type { Client } from "../clients.ts";
import { LEGACY_SHARDS, nested } from "./sums.ts";

/** An increment with a legacy client. */
export interface LegacyIncrement {
  readonly document: string;
  /** With dots, if it is nested. */
  readonly field: string;
  readonly by: number;
}

export interface LegacyClient {
  /** Resolves when the server has acknowledged it. */
  increment(increment: LegacyIncrement): Promise<void>;
}

/** One server, or one counter object on a server. */
export function legacyNodeClient(firestore: Firestore, id: string = randomUUID()): LegacyClient {
  return {
    async increment({ document, field, by }) {
      const shard = firestore.doc(`${document}/${LEGACY_SHARDS}/${id}`);
      await shard.set(nested(field, FieldValue.increment(by)), { merge: true });
    },
  };
}

export interface LegacyPage extends LegacyClient {
  /**
   * Watches a field as an old page shows it.
   *
   * @param show  gets each total
   */
  watch(document: string, field: string, show: (total: number) => void): () => void;
}

/** A page with a cookie of its own, where the id of its shards is kept. */
export function legacyWebClient({ db }: Client, id: string = randomUUID()): LegacyPage {
  const shardOf = (document: string) => doc(db, document, LEGACY_SHARDS, id);
  return {
    increment: ({ document, field, by }) => setDoc(shardOf(document), nested(field, increment(by)), { merge: true }),
    watch(document, field, show) {
      const watched = [doc(db, document), shardOf(document)];
      const values = watched.map(() => 0);
      let timer: NodeJS.Timeout | undefined;
      const stops = watched.map((ref, index) =>
        onSnapshot(ref, (snapshot) => {
          values[index] = snapshot.get(field) ?? 0;
          // Both snapshots of one commit come in the same task.
          timer ??= setTimeout(() => {
            timer = undefined;
            show(values.reduce((sum, value) => sum + value));
          });
        }),
      );
      return () => {
        for (const stop of stops) stop();
        clearTimeout(timer);
      };
    },
  };
}
