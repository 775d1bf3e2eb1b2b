/**
 * Takes units from a bounded counter: one commit lowers one shard and creates the user's entry, and the rules refuse it if the
 * shard has too few. The counter document says which shards have units. If it is out of date, the shards themselves are read.
 */
import { collection, doc, runTransaction, type WriteBatch } from "firebase/firestore";
import {
  BASE_SHARD,
  CounterError,
  entryPath,
  MAX_TAKE,
  randomShard,
  type Stock,
  shardsPath,
  soldOut,
  validName,
  validTake,
} from "../../../core/src/index.ts";
import type { OrderedCall } from "./call.ts";
import {
  type Counter,
  type CounterRef,
  counterOf,
  hasCode,
  listFromServer,
  readFromServer,
  refreshShardCount,
} from "./counter.ts";
import { inOrder } from "./inOrder.ts";
import { sumShards } from "./sum.ts";
import { addWrites, planFor } from "./writes.ts";

/** Options of {@link takeFromCounter}. */
export interface TakeFromCounterOptions {
  /** The user's uid. Each user takes once, until `undoIncrement` with this `once` gives back. */
  once: string;
}

/** How often a take looks for units: for some 12 seconds if answers are quick. Meanwhile the functions bring them together. */
const MAX_SEARCHES = 20;

/** The longest pause after takes of others came first. Without it, a crowd that waits for one shard would keep it locked. */
const MAX_BACKOFF_MS = 800;

/** How often the rules may refuse a take from a shard that has the units, and that changes from one try to the next. */
const MAX_REFUSALS = 10;

/** How long a listing of the shards may take at most: a second for each time that no units were found, so 2, 4, 6, then 8 s. */
const LISTING_MS = 1_000;
const MAX_LISTING_MS = 8_000;

/** How often a call of unknown outcome is sent, as after a cut connection: for some seconds. */
const MAX_ATTEMPTS = 10;

/**
 * Takes units from a bounded counter, all or none, once for the user `once`. Never more than there are: security rules keep each
 * shard at 0 or more. If the user has taken already, nothing is taken, and the call returns what the user has. So it can
 * be repeated after any error. Units come back by {@link undoIncrement}.
 *
 * Not for offline use: the call waits for the server's answer, and fails without a connection. Until it returns, other calls with
 * this `once` wait.
 *
 * Cost: 2 writes, and 2 reads by the rules; 1 read of the counter document, unless it was read within two minutes; 1 read of the
 * shard, if the counter is watched. A shard that turns out too empty costs 7 reads; a second one, 6 and 1 per shard. "Sold out"
 * costs 3, or 7 if a shard was tried, and a repetition for a user who has taken 4.
 *
 * @param units - a whole number from 1 to 10. The default rules accept each of them
 * @returns the units taken
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once` before any I/O; `counter/sold-out` if fewer are left;
 *         `counter/permission-denied` if the rules refuse it; `counter/contention` if the units that are left stay spread
 *         over several shards, because the functions do not run; other errors of Firestore unchanged
 *
 * @example
 * ```ts
 * const tickets = await takeFromCounter(counter(db, "tickets:final"), 2, { once: user.uid });
 * ```
 */
export async function takeFromCounter(
  ref: CounterRef,
  units: number,
  options: TakeFromCounterOptions,
): Promise<number> {
  validTake(units, MAX_TAKE);
  const once = validName("once", options?.once);
  const counter = counterOf(ref);
  return await inOrder(counter, once, undefined, () => takeInOrder(counter, units, once));
}

async function takeInOrder(counter: Counter, n: number, once: string): Promise<number> {
  await refreshShardCount(counter);
  let stock = counter._latest?.get("stock");
  const empty = new Set<string>();
  let [failures, refusals, contentions] = [0, 0, 0];
  let refused: Refused | undefined;
  for (let search = 0; search < MAX_SEARCHES; search++) {
    const before: Refused | undefined = refused;
    const shard = before?.shard ?? chooseShard(counter, stock, n, empty);
    const outcome = shard === undefined ? "empty" : await retryTransient(() => take(counter, shard, n, once));
    if (typeof outcome === "number") return outcome;
    refused = typeof outcome === "object" ? outcome : undefined;
    if (refused) {
      // Units may have come between the refusal and the read of the shard. If they were there before, they are not the reason.
      if (refused.state === before?.state || ++refusals === MAX_REFUSALS) throw refusal(n);
      continue;
    }
    if (outcome === "contended") {
      await pause(Math.min(100 * 2 ** contentions++, MAX_BACKOFF_MS));
      continue;
    }
    const left = await retryTransient(() => sumShards(counter));
    if (left < n) {
      // Not before the sum: an earlier call may have taken the last units, also if its answer was lost.
      const by = (await read(counter, entryPath(counter.path, once)))?.get("by");
      if (by < 0) return -by;
      throw soldOut(counter.id, n, left);
    }
    if (failures++ % 2 === 0) {
      stock = await publishedStock(counter);
      if (shard !== undefined) empty.add(shard);
    } else {
      stock = (await actualStock(counter, Math.min(failures * LISTING_MS, MAX_LISTING_MS))) ?? stock;
      empty.clear();
    }
    // By then the functions may have brought the units together.
    if (failures > 3) await pause(1_000);
  }
  throw new CounterError(
    "counter/contention",
    contentions > MAX_SEARCHES / 2
      ? `other takes were first ${contentions} times; try again`
      : `no shard of "${counter.id}" keeps ${n} units long enough; take fewer, or later. The functions must run, and ensureCounter must have created it with { bounded: true }`,
  );
}

/** A random shard that is known to have `n` units; without knowledge, any. */
function chooseShard(
  { _shardCountCache }: Counter,
  stock: Stock | null | undefined,
  n: number,
  empty: ReadonlySet<string>,
): string | undefined {
  if (!stock) return randomShard(_shardCountCache._shardsToChooseFrom(), Math.random);
  const shards = Object.keys(stock).filter(
    (shard) => shard !== BASE_SHARD && (stock[shard] as number) >= n && !empty.has(shard),
  );
  return shards[Math.floor(Math.random() * shards.length)];
}

/** What became of a try: the units taken, or why none were. */
type Outcome = number | "empty" | "contended" | Refused;

/** A refused try of a shard that has the units. `state` is its `count` and its `writes`: a change alters one of them. */
interface Refused {
  readonly shard: string;
  readonly state: string;
}

/** @throws FirestoreError if the outcome is unknown. Then the same call may be repeated */
async function take(counter: Counter, shard: string, n: number, once: string): Promise<Outcome> {
  const { firestore, path, _watcher } = counter;
  const plan = planFor(counter, { _by: -n, _once: once, _undoneShard: shard });
  try {
    // Without a removal of marks: a refusal means that the shard has too few units, and the next try follows at once.
    const add = async (own: unknown) => addWrites(own as WriteBatch, counter, plan);
    await runTransaction(firestore, add, { maxAttempts: 1 });
  } catch (error) {
    // An earlier try may have been committed.
    const [entry, written] = await Promise.all(
      [entryPath(path, once), plan.path].map((one) => readFromServer(doc(firestore, one), 1)),
    );
    const by = entry?.get("by");
    if (by < 0) return -by;
    if (hasCode(error, "aborted")) return "contended";
    if (!hasCode(error, "permission-denied")) throw error;
    // Then the sum of the shards cannot be read either.
    if (!written) throw refusal(n, "mayReadCounter must allow it, or Tally's block is missing; ");
    const count = written?.get("count") ?? 0;
    return count < n ? "empty" : { shard, state: `${count} ${written?.get("writes")}` };
  }
  // Watches show it before it is published.
  if (!_watcher?._isWatched()) return n;
  const shown = read(counter, plan.path).then((written) => ({ _path: plan.path, _at: written?.get("at") }));
  shown.catch(() => undefined);
  _watcher._track({ _by: -n, _ordered: { _once: once } as OrderedCall }, shown);
  return n;
}

async function publishedStock(counter: Counter): Promise<Stock | null | undefined> {
  counter._latest = await read(counter, counter.path);
  return counter._latest?.get("stock");
}

/**
 * Lists the shards, since they have changed after the last publish. Cost: 1 read per shard.
 *
 * @returns `undefined` if that takes too long: the SDK lists by way of a stream, which it may open a minute later after an error
 */
async function actualStock({ firestore, path }: Counter, timeout: number): Promise<Stock | undefined> {
  const listed = retryTransient(() => listFromServer(collection(firestore, shardsPath(path))));
  const shards = await Promise.race([listed, pause(timeout)]);
  return shards && Object.fromEntries(shards.docs.map((shard) => [shard.id, shard.get("count")]));
}

/** Cost: 1 read. The SDK's own repetitions would wait for seconds. */
function read({ firestore }: Counter, path: string) {
  return retryTransient(() => readFromServer(doc(firestore, path), 1));
}

/** Errors of Firestore after which a retry may succeed. */
const TRANSIENT = [
  "unavailable",
  "deadline-exceeded",
  "aborted",
  "cancelled",
  "internal",
  "unknown",
  "resource-exhausted",
];

/** Repeats a call, which must be safe to repeat, after a transient error. */
async function retryTransient<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !TRANSIENT.some((code) => hasCode(error, code))) throw error;
      await pause(100 * attempt);
    }
  }
}

/** Waits for half of `most` milliseconds up to `most`. */
async function pause(most: number): Promise<undefined> {
  await new Promise((resolve) => setTimeout(resolve, (most * (1 + Math.random())) / 2));
}

function refusal(n: number, reads = ""): CounterError {
  return new CounterError(
    "counter/permission-denied",
    `firestore.rules refuse a take of ${n}; ${reads}sign in: once must be the user's uid; isBounded must name the group, and isAllowedTake must allow it`,
  );
}
