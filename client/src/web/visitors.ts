/** Unique visitors: each user counts once for a counter, however often they come. */
import { arrayUnion, doc, getDoc, type WriteBatch } from "firebase/firestore";
import {
  bucketOf,
  CounterError,
  hashRank,
  Sketch,
  type StoredSketch,
  sketchPath,
  uniquesPath,
  validVisitor,
  visitorHash,
} from "../../../core/src/index.ts";
import {
  type Counter,
  type CounterRef,
  counterDoc,
  counterOf,
  hasCode,
  refreshShardCount,
  rethrowUnlessDenied,
} from "./counter.ts";
import { send } from "./send.ts";

/**
 * Counts a visitor of a counter, once for each user. The estimate is `uniques` of each snapshot, some 10 seconds later: exact
 * up to 1,536 visitors, with a standard error of 0.81 % beyond. The default rules count signed-in users, anonymous ones
 * included, of the groups `views` and `visitors`.
 *
 * Cost: 1 write for the first call; none if this browser has counted the user, or if the visitor can change no estimate, as 63
 * of 64 among 10 million. And 1 read of the counter document now and then, as for {@link incrementCounter}.
 *
 * @param visitor - the user's uid
 * @throws CounterError `counter/invalid-visitor` before any I/O; `counter/permission-denied` if the rules refuse the visitor
 * @throws TypeError on a page that is not served by https, which has no Web Crypto
 *
 * @example
 * ```ts
 * await countVisitor(counter(db, "views:home"), user.uid);
 * ```
 */
export async function countVisitor(ref: CounterRef, visitor: string): Promise<void> {
  validVisitor(visitor);
  await commitVisit(counterOf(ref), visitor).catch((error) => {
    rethrowUnlessDenied(error);
    throw new CounterError(
      "counter/permission-denied",
      `firestore.rules refuse a visit of "${ref.id}"; sign in: visitor must be the uid, countsVisitors must name the group`,
      error,
    );
  });
}

/**
 * Reads how many different visitors several counters have had together: pages of a site, or days of a page. Visitors of the
 * last 10 seconds may be missing. Cost: 1 read per counter.
 *
 * The default rules let operators alone read it, because it tells whether a user whose uid is known has been there.
 *
 * @throws FirestoreError `permission-denied` unless `mayReadSketch` of the rules allows it; `unavailable` when offline
 *
 * @example
 * ```ts
 * const readers = await getUniques([counter(db, "views:home"), counter(db, "views:about")]);
 * ```
 */
export async function getUniques(refs: readonly CounterRef[]): Promise<number> {
  const stored = await Promise.all(refs.map((ref) => getDoc(doc(counterDoc(ref).firestore, sketchPath(ref.path)))));
  const union = new Sketch();
  for (const sketch of stored) {
    if (!sketch.exists()) continue;
    const format: StoredSketch["format"] = sketch.get("format");
    union.merge(Sketch.parse({ format, bytes: sketch.get("bytes").toUint8Array() }));
  }
  return Math.round(union.estimate());
}

/** If the write is contended, or the rules refuse it because the bucket is full, it goes to one of the 256 smaller buckets a second later. */
async function commitVisit(counter: Counter, visitor: string, isSpread?: boolean): Promise<void> {
  await refreshShardCount(counter);
  const visit = await planVisit(counter, visitor, isSpread);
  if (!visit) return;
  try {
    await send(counter, visit);
    visit._remember();
  } catch (error) {
    if (!hasCode(error, "aborted") && (isSpread || !hasCode(error, "permission-denied"))) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await commitVisit(counter, visitor, true);
  }
}

/** The write of a visitor; `undefined` if this browser has counted the user, or if it would change nothing. */
async function planVisit(counter: Counter, visitor: string, isSpread?: boolean) {
  const { firestore, path, _latest } = counter;
  const epoch = _latest?.get("uniquesResetAt")?.seconds;
  const [hash = "", token = ""] = await Promise.all([visitor, `${path}\n${visitor}\n${epoch}`].map(visitorHash));
  const isCounted = visits.get(counter) === token || stored().includes(token);
  if ((_latest && isCounted) || hashRank(hash) <= _latest?.get("uniqueFloor")) return undefined;
  const buckets = isSpread ? 256 : _latest?.get("uniqueBuckets");
  const bucket = doc(firestore, `${uniquesPath(path)}/${bucketOf(hash, buckets)}`);
  return {
    _add(writer: WriteBatch): undefined {
      writer.set(bucket, { visitors: arrayUnion(hash) }, { merge: true });
    },
    _remember: () => {
      visits.set(counter, token);
      try {
        localStorage.setItem(STORED, `${stored()},${token}`.slice(-MAX_STORED));
      } catch {
        // As in stored(), or there is no room.
      }
    },
  };
}

/** The token of the last visit that this page has counted, by counter. */
const visits = new WeakMap<Counter, string>();

const STORED = "firestore-tally";
/** A thousand tokens, with a comma before each. */
const MAX_STORED = 17_000;
/** Tokens of what this browser has counted. Outside browsers there are none, and a browser may forbid them. */
function stored(): string {
  try {
    return `${localStorage.getItem(STORED)}`;
  } catch {
    return "";
  }
}
