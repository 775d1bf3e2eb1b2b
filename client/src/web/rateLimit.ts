/**
 * Writes of which the rules accept a limited number per user and time: `isWithinLimit` in `firestore.rules`. Each is committed together
 * with a use of the user's limit document. The client keeps track of the slots, which avoids most refused writes
 * and most reads. The rules alone enforce the limit, so a wrong guess costs a refused write and no more.
 */
import {
  type DocumentReference,
  type DocumentSnapshot,
  doc,
  type Firestore,
  serverTimestamp,
  type Timestamp,
  type WriteBatch,
  writeBatch,
} from "firebase/firestore";
import {
  CounterError,
  chooseSlot,
  type IncrementArguments,
  isSurelyFree,
  type KnownUses,
  type LimitDocument,
  learnUses,
  limitPath,
  type RateLimit,
  unknownUses,
  validIncrement,
  validLimit,
  withoutUse,
  withUse,
} from "../../../core/src/index.ts";
import type { Committed } from "./call.ts";
import { makeIncrement } from "./commit.ts";
import { type CounterRef, counter, counterDoc, counterOf, hasCode, readFromServer } from "./counter.ts";
import type { IncrementOptions } from "./increment.ts";

/**
 * Commits a write of your own document for which the rules ask `isWithinLimit`: a comment, say. `write` adds it, and
 * anything else of the same commit, to a batch. If another device of the user has taken the use meanwhile, `write` is called
 * again for another batch.
 *
 * If the user has no use left, the call rejects with `counter/rate-limited`, usually before anything is written. The error's `retryAfter`
 * is how many milliseconds to wait at most; a client that has not used the limit since the page was opened may wait longer than
 * necessary.
 *
 * Cost: 1 write besides your own, and 2 reads by the rules. The first use by this client reads the limit document
 * (1 read), and so does one for which no slot is known to be free. A refused write costs 1 more read.
 *
 * @param document - the one document whose write takes the use
 * @param limit - the user's uid, and the arguments that `isWithinLimit` has in the rules
 * @param write - writes `document`, once, and may write others. Must have no other effect
 * @throws CounterError `counter/invalid-option` before any I/O; `counter/rate-limited`;
 *         `counter/permission-denied` if the rules refuse the batch for another reason; FirestoreError `unavailable` when
 *         offline and no slot is known to be free
 *
 * @example
 * ```ts
 * const comment = doc(collection(db, "posts/42/comments"));
 * const limit = { name: "comments", uid: user.uid, limit: 2, per: 60_000, burst: 5 };
 * await withRateLimit(comment, limit, (batch) => batch.set(comment, { author: user.uid, text }));
 * ```
 */
export async function withRateLimit(
  document: DocumentReference,
  limit: RateLimit,
  write: (batch: WriteBatch) => unknown,
): Promise<void> {
  await commitWithUse(document?.firestore, limit, async (addUse) => {
    const batch = writeBatch(document.firestore);
    write(batch);
    addUse(batch, document);
    await batch.commit();
    return undefined;
  }).catch((error) => {
    if (/^counter/.test(error.code) || !hasCode(error, "permission-denied")) throw error;
    throw new CounterError(
      "counter/permission-denied",
      `firestore.rules refuse the write of "${document.path}", but not for its rate`,
      error,
    );
  });
}

/**
 * Adds `by` to a counter whose increments `isAllowedRate` of the rules limits for each user. Rejects with
 * `counter/rate-limited` as {@link withRateLimit} does.
 *
 * Cost: as `incrementCounter`, and 1 write and 2 reads by the rules besides. The first use by this client reads the limit
 * document (1 read), and so does one for which no slot is known to be free. A refused write costs 1 more read.
 *
 * @param limit - the user's uid, and the arguments that `isWithinLimit` has in the rules
 * @param by - a number within ±2⁵³, not 0
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once`, `counter/invalid-option` before any I/O;
 *         `counter/rate-limited`; `counter/permission-denied` if the rules refuse the increment for another reason
 *
 * @example
 * ```ts
 * const limit = { name: "claps", uid: user.uid, limit: 10, per: 60_000, burst: 10 };
 * await incrementCounterWithRateLimit(counter(db, "claps:talk7"), limit);
 * ```
 */
export function incrementCounterWithRateLimit(
  ref: CounterRef,
  limit: RateLimit,
  by?: number,
  options?: IncrementOptions,
): Promise<void>;
export async function incrementCounterWithRateLimit(
  ref: CounterRef,
  limit: RateLimit,
  ...given: IncrementArguments
): Promise<void> {
  const { firestore } = counterDoc(ref);
  const [by, once] = validIncrement(given);
  await commitWithUse(firestore, limit, (addUse) =>
    makeIncrement(counterOf(ref), by, once, (writer, path) => addUse(writer, doc(firestore, path))),
  );
}

/** The limit document of a user, and what this client knows about its slots. */
interface UserLimit {
  readonly _document: DocumentReference;
  /** `undefined` before the first read. */
  _known?: KnownUses | undefined;
  _reading?: Promise<unknown> | undefined;
  /** The wall clock minus the monotonic clock, which may stand still while the device sleeps. */
  _wallClockOffset?: number;
}

const limits = new WeakMap<Firestore, Record<string, UserLimit>>();

/** Adds the use to a commit. */
type AddUse = (writer: WriteBatch, document: DocumentReference) => void;

/** Two days more than the rules demand, because this device's clock may be wrong. */
const EXPIRE_AFTER_MS = 259_200_000;
const READ_ATTEMPTS = 5;

/** Codes of errors after which nothing was written, besides refusals by the rules. */
const NOT_WRITTEN = /not-found|already-exists|failed-precondition|invalid-argument/;

/** @param commit  called again only after a refusal by the rules; resolves to the increment that it has committed, if it is one */
async function commitWithUse(
  firestore: Firestore,
  rate: RateLimit,
  commit: (addUse: AddUse) => Promise<Committed | undefined>,
): Promise<void> {
  validLimit(rate);
  // Refuses the database of another SDK.
  counter(firestore, rate.name);
  const path = limitPath(rate.name, rate.uid);
  const all = limits.get(firestore) ?? {};
  all[path] ??= { _document: doc(firestore, path) };
  limits.set(firestore, all);
  const limit = all[path];
  for (;;) {
    const { slot, sent } = await takeSlot(limit, rate);
    const now = Math.max(Date.now(), sent + known(limit).clockOffset.from);
    // Random, to tell this use from all others.
    const expireAt = new Date(now + EXPIRE_AFTER_MS + Math.random() * 1e6);
    let limited: DocumentReference | undefined;
    const answered = (isUsed: unknown) => {
      const uses = known(limit);
      limit._known = isUsed ? withUse(uses, slot, sent, performance.now()) : withoutUse(uses, slot);
    };
    try {
      const committed = await commit((writer, document) => {
        limited = document;
        const use: LimitDocument<unknown, DocumentReference> = {
          slots: { [slot]: serverTimestamp() },
          slot,
          for: document,
          expireAt,
        };
        writer.set(limit._document, use, { merge: true });
      });
      // An increment that had counted before needed no write.
      answered(committed?._at !== null);
      return;
    } catch (error) {
      const isRefused = hasCode(error, "permission-denied");
      // Without an answer, the write may have been committed at any time until now.
      answered(limited && !isRefused && !NOT_WRITTEN.test((error as { code: string }).code));
      if (!isRefused) throw error;
      const stored = await read(limit, rate);
      // The rules also refuse the replay of a batch that was committed.
      const { for: last, expireAt: lastExpireAt } = (stored.data() ?? {}) as Partial<
        LimitDocument<Timestamp, DocumentReference>
      >;
      if (last?.path === limited?.path && lastExpireAt?.toMillis() === expireAt.getTime()) return;
      if (isSurelyFree(known(limit), slot, rate, sent)) throw error;
      const next = chooseSlot(known(limit), rate, performance.now());
      if (next.state !== "free") throw rateLimited(rate, next.retryAfter, error);
    }
  }
}

function known({ _known }: UserLimit): KnownUses {
  return _known ?? unknownUses();
}

/** @throws CounterError `counter/rate-limited` if no slot can be free */
async function takeSlot(limit: UserLimit, rate: RateLimit): Promise<{ slot: number; sent: number }> {
  const offset = Date.now() - performance.now();
  if (Math.abs(offset - (limit._wallClockOffset ?? offset)) > 1_000) limit._known = undefined;
  limit._wallClockOffset = offset;
  const choose = () => chooseSlot(known(limit), rate, performance.now());
  if (!limit._known || choose().state === "unknown") {
    limit._reading ??= read(limit, rate).finally(() => {
      limit._reading = undefined;
    });
    await limit._reading;
  }
  const { slot, state, retryAfter } = choose();
  if (state === "used") throw rateLimited(rate, retryAfter);
  const sent = performance.now();
  limit._known = withUse(known(limit), slot, sent, Number.POSITIVE_INFINITY);
  return { slot, sent };
}

/** Cost: 1 read. */
async function read(limit: UserLimit, rate: RateLimit): Promise<DocumentSnapshot> {
  const { _document } = limit;
  const sent = performance.now();
  const stored = await readFromServer(_document, READ_ATTEMPTS);
  if (!stored) {
    throw new CounterError(
      "counter/permission-denied",
      `firestore.rules refuse to read "${_document.path}"; sign in as that user; isLimit must name the limit`,
    );
  }
  const slots: [string, Timestamp][] = Object.entries(stored.get("slots") ?? {});
  // With fractions, which toMillis() drops.
  const times = new Map(
    slots.map(([slot, { seconds, nanoseconds }]) => [Number(slot), seconds * 1e3 + nanoseconds / 1e6]),
  );
  limit._known = learnUses(known(limit), times, rate, sent, performance.now());
  return stored;
}

function rateLimited({ name }: RateLimit, retryAfter: number, cause?: unknown): CounterError {
  const message = `the user has no use of "${name}" left; try again in ${retryAfter} ms`;
  return Object.assign(new CounterError("counter/rate-limited", message, cause), { retryAfter });
}
