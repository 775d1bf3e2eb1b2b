/** Unique visitors: each user counts once for a counter, however often they come. */
import { arrayUnion, doc, getDoc, type WriteBatch } from "firebase/firestore";
import {
  bucketOf,
  CounterError,
  rankOf,
  Sketch,
  type StoredSketch,
  sketchPath,
  uniquesPath,
  validAmount,
  visitorHash,
} from "../../../core/src/index.ts";
import { commitIncrement, type PlanWrite, send } from "./commit.ts";
import { type Counter, type CounterRef, hasCode, refreshShardCount } from "./counter.ts";

/** Options of {@link countVisitor}. */
export interface VisitorOptions {
  /** Also adds this to the counter, in the same commit: a view and its visitor. Default: the visitor alone. */
  increment?: number | undefined;
}

/**
 * Counts a visitor of a counter, once for each user. The estimate is `uniques` of each snapshot, some 10 seconds later: exact
 * up to 1,536 visitors, with a standard error of 0.81 % beyond. The default rules count signed-in users, anonymous ones
 * included, of the groups `views` and `visitors`.
 *
 * Cost: 1 write for the first call; none if this browser has counted the user, or if the visitor can change no estimate, as 63
 * of 64 among 10 million. And 1 read of the counter document now and then, as for {@link incrementCounter}. With `increment`,
 * also the increment's cost.
 *
 * @param visitor - the user's uid
 * @throws CounterError `counter/invalid-amount` before any I/O; `counter/unsupported` on a page that is not served by https;
 *         `counter/permission-denied` if the rules refuse it, with `increment` both
 *
 * @example
 * ```ts
 * await countVisitor(counter(db, "views:home"), user.uid, { increment: 1 });
 * ```
 */
export async function countVisitor(ref: CounterRef, visitor: string, options: VisitorOptions = {}): Promise<void> {
  const { increment } = options;
  const counter = ref as Counter;
  let token: string | undefined;
  const plan: PlanVisit = async (isContended) => {
    const visit = await planVisit(counter, visitor, isContended);
    token = visit?._token;
    return visit?._add;
  };
  try {
    if (increment === undefined) await commitVisit(counter, plan);
    else await commitIncrement(counter, validAmount(increment), undefined, undefined, plan);
  } catch (error) {
    if (!hasCode(error, "permission-denied")) throw error;
    throw new CounterError(
      "counter/permission-denied",
      `firestore.rules refuse the visitor of "${ref.id}"; the visitor must be the user's uid, countsVisitors must name the group`,
      error,
    );
  }
  if (token) remember(token);
}

/**
 * Reads how many different visitors several counters have had together: pages of a site, or days of a page. Visitors of the last
 * 10 seconds may be missing. Cost: 1 read per counter.
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
  const stored = await Promise.all(refs.map(({ firestore, path }) => getDoc(doc(firestore, sketchPath(path)))));
  const union = new Sketch();
  for (const sketch of stored) {
    if (!sketch.exists()) continue;
    const format: StoredSketch["format"] = sketch.get("format");
    union.merge(Sketch.parse({ format, bytes: sketch.get("bytes").toUint8Array() }));
  }
  return Math.round(union.estimate());
}

/** Refused as contended, it is sent to the smaller bucket. */
async function commitVisit(counter: Counter, plan: PlanVisit, isContended?: boolean): Promise<unknown> {
  await refreshShardCount(counter);
  const add = await plan(isContended);
  return (
    add &&
    send(counter, add).catch((error) => {
      if (!hasCode(error, "aborted")) throw error;
      return commitVisit(counter, plan, true);
    })
  );
}

type PlanVisit = (isContended?: boolean) => ReturnType<PlanWrite>;

/** The write of a visitor, and the token by which this browser remembers it; `undefined` if it would change nothing. */
async function planVisit(counter: Counter, visitor: string, isContended?: boolean) {
  const { firestore, path, _latest, _shardCountCache } = counter;
  const hash = await visitorHash(visitor);
  const _token = await visitorHash(`${path}\n${visitor}\n${_latest?.get("uniqueResets")}`);
  if (remembered().includes(_token) || rankOf(hash) <= _latest?.get("uniqueFloor")) return undefined;
  const isWide = isContended || _shardCountCache._isContended() || _latest?.get("uniqueBuckets") === 256;
  const bucket = doc(firestore, `${uniquesPath(path)}/${bucketOf(hash, isWide ? 256 : 16)}`);
  const _add = (writer: WriteBatch) => writer.set(bucket, { visitors: arrayUnion(hash) }, { merge: true });
  return { _token, _add };
}

const STORED = "firestore-tally";
/** A thousand tokens, with a comma before each. */
const MAX_STORED = 17_000;
/** Where there is no storage. */
let memory = "";

/** Tokens of what this browser has counted. */
function remembered(): string {
  try {
    return localStorage.getItem(STORED) ?? memory;
  } catch {
    // Outside browsers there is none, and a browser may forbid it.
    return memory;
  }
}

function remember(token: string): void {
  memory = `${remembered()},${token}`.slice(-MAX_STORED);
  try {
    localStorage.setItem(STORED, memory);
  } catch {
    // As above, or it is full.
  }
}
