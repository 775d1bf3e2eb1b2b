/**
 * Reads what an operator on call looks at first: late totals, waiting tasks, drift, and what the alarms are about. The database alone tells:
 * the page has no access to Cloud Tasks or Cloud Monitoring.
 */
import {
  collection,
  type DocumentSnapshot,
  doc,
  type Firestore,
  getDocFromServer,
  getDocsFromServer,
  limit,
  orderBy,
  type Query,
  query,
  Timestamp,
  where,
} from "firebase/firestore";
import { millisOf, type Published, parsePublished } from "../counter/published.ts";
import { writesOf } from "../counter/shardWrites.ts";

/** Documents that each query reads at most. */
export const MOST = 20;

/** The sweep reconciles every five minutes. */
const OVERDUE_RECONCILE_MS = 15 * 60_000;

const DAY_MS = 86_400_000;

export interface Drift {
  readonly id: string;
  readonly by: number;
  readonly at: number;
}

/** What was read at one time. */
export interface OnCallReading {
  /** When: milliseconds since the epoch, by the server's clock. */
  readonly at: number;
  /** Counters that are polled or have slow sums, and are not shown. */
  readonly others: readonly Published[];
  /** Writes to shard 0 of the shown counters that are not polled, by id. */
  readonly writes: ReadonlyMap<string, readonly number[]>;
  /** Counters that the functions measure again by a task; {@link MOST} at most. */
  readonly polled: number;
  /** Counters with a scheduled reconcile; {@link MOST} at most. */
  readonly reconciled: number;
  /** Those whose reconcile was not made. */
  readonly overdue: readonly string[];
  /** What reconciles have corrected in the last day. */
  readonly drifts: readonly Drift[];
  readonly reads: number;
}

/**
 * Reads it once. Cost: 1 read for each counter shown that is not polled, at most 20 for the polled ones, 40 for reconciles and 20 for slow
 * sums; at least 3.
 *
 * @param shown  the counters of the list
 * @param now    the server's time
 * @throws FirestoreError if the rules deny it, or there is no connection
 */
export async function readOnCall(db: Firestore, shown: readonly Published[], now: number): Promise<OnCallReading> {
  let reads = 0;
  const counters = collection(db, "counters");
  const read = async (one: Query) => {
    const { docs } = await getDocsFromServer(query(one, limit(MOST)));
    reads += Math.max(docs.length, 1);
    return docs;
  };
  const writesTo = async (id: string) => {
    const shard = await getDocFromServer(doc(counters, id, "shards", "0"));
    reads++;
    return writesOf(shard);
  };
  const latestCorrection = async (id: string) => {
    const latest = query(collection(counters, id, "tallyCorrections"), orderBy("at", "desc"), limit(1));
    const [correction] = (await getDocsFromServer(latest)).docs;
    reads++;
    return correction && { id, by: Number(correction.get("by")), at: millisOf(correction.get("at")) ?? 0 };
  };

  const unpolled = shown.filter(({ isIdle }) => isIdle);
  const [polled, slow, scheduled, writes] = await Promise.all([
    read(query(counters, where("phase", "!=", "idle"))),
    read(query(counters, where("slowSince", ">", Timestamp.fromMillis(0)))),
    read(query(counters, orderBy("nextReconcileAt"))),
    Promise.all(unpolled.map(({ id }) => writesTo(id))),
  ]);
  const corrections = await Promise.all(scheduled.map(({ id }) => latestCorrection(id)));

  const ids = new Set(shown.map(({ id }) => id));
  const others = new Map([...polled, ...slow].flatMap((document) => withId(parsePublished(document))));
  const isOverdue = (one: DocumentSnapshot) =>
    now - (millisOf(one.get("nextReconcileAt")) ?? now) > OVERDUE_RECONCILE_MS;
  return {
    at: now,
    others: [...others.values()].filter(({ id }) => !ids.has(id)),
    writes: new Map(unpolled.map(({ id }, i) => [id, writes[i] ?? []])),
    polled: polled.length,
    reconciled: scheduled.length,
    overdue: scheduled.filter(isOverdue).map(({ id }) => id),
    drifts: corrections.flatMap((one) => (one && now - one.at < DAY_MS ? [one] : [])),
    reads,
  };
}

function withId(published: Published | undefined): [string, Published][] {
  return published ? [[published.id, published]] : [];
}
