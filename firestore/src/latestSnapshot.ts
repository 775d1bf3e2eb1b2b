/** Snapshots that include every commit before a call, in the emulator, too. */
import { setTimeout as sleep } from "node:timers/promises";
import { type ReadOnlyTransactionOptions, Timestamp } from "firebase-admin/firestore";

/**
 * How old a snapshot of the emulator must be for two queries to agree on it. Of 3,400 read-only transactions under 300 commits
 * per second, 20 had a commit in one query and not in the other; of 3,500 with snapshots that were 50 ms old, none. In
 * production all reads of a transaction agree, and reads see each commit before them
 * (https://cloud.google.com/firestore/docs/understand-reads-writes-scale).
 */
export const EMULATOR_SNAPSHOT_LAG_MS = 50;

/**
 * A read-only transaction that sees every commit before this call. In the emulator it waits, then reads as of the time of the call,
 * rounded up since the emulator's clock is finer.
 */
export async function latestSnapshot(): Promise<ReadOnlyTransactionOptions> {
  if (!process.env.FIRESTORE_EMULATOR_HOST) return { readOnly: true };
  const readTime = Timestamp.fromMillis(Date.now() + 1);
  await sleep(EMULATOR_SNAPSHOT_LAG_MS);
  return { readOnly: true, readTime };
}
