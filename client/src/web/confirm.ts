/**
 * Finds out whether a refused write counts.
 *
 * If a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write again. The
 * rules refuse this replay because it adds no mark. The refusal arrives as `permission-denied`. One read of that document then
 * tells a replay, whose mark is there, from an increment that the rules refuse. Browsers repeat requests, too, so contention can refuse a
 * replay.
 */
import { doc, type FirestoreError, type Timestamp } from "firebase/firestore";
import { CounterError, DIRECT, type IncrementPlan, LOOKUP_ATTEMPTS } from "../../../core/src/index.ts";
import type { IncrementCall } from "./call.ts";
import { type Counter, counterDoc, hasCode, learn, readFromServer, rethrowUnlessDenied, targetIn } from "./counter.ts";
import { hasMark } from "./writes.ts";

/** An increment was refused for ever, so another one elsewhere is safe. */
export const REFUSED = {};

/** The shard has too many marks, so that another one is tried, as after contention. */
const FULL = { code: "aborted" };

/**
 * Looks up whether a refused increment counts: a replay was committed by its first attempt, and a `once` may count already. Cost: 1 read, 2
 * for a refused increment with `once`; 1 more on a shard.
 *
 * @returns the server's timestamp of the write or of a later one; `null` if it had counted before
 * @throws {@link REFUSED}, or an error with the code `aborted`, if it may be made again elsewhere; CounterError
 *         `counter/permission-denied` if it does not count; the message says why that may be
 */
export async function confirmCommitted(
  counter: Counter,
  call: IncrementCall,
  cause: FirestoreError,
): Promise<Timestamp | null | undefined> {
  const { firestore, id } = counter;
  const { _undoneShard: undoneShard, _refusedBy: refusedBy } = call;
  const isContended = hasCode(cause, "aborted");
  if (!isContended) rethrowUnlessDenied(cause);
  const plan = call._plan as IncrementPlan;
  const { path, by, generation, slot, entry } = plan;
  const isDirect = generation !== undefined;
  const written = await readFromServer(doc(firestore, path), LOOKUP_ATTEMPTS);
  if (hasMark(written, plan)) return written?.get("at");
  if (isDirect) learn(counter, written, written?.get("growing"));
  if (isContended) throw cause;
  const own = entry && !undoneShard ? await readFromServer(doc(firestore, entry), LOOKUP_ATTEMPTS) : undefined;
  if (own?.get("by") === by) return null;
  if (isDirect) {
    // The generation still takes increments. So the policy refuses this one, or functions were deployed meanwhile.
    if (counter._target?._generation === generation) counter._hasNoShards = false;
    throw REFUSED;
  }
  const { _latest } = counter;
  const mayBeOpen = !_latest?.exists() || _latest.get("direct.open");
  if (mayBeOpen && (undoneShard ?? DIRECT) === DIRECT && targetIn(_latest, true)._generation !== (refusedBy ?? -1)) {
    const document = await readFromServer(counterDoc(counter), LOOKUP_ATTEMPTS);
    const next = targetIn(document, true)._generation;
    counter._hasNoShards = next !== undefined && next !== refusedBy;
    learn(counter, document, document?.get("growing"));
    if (counter._hasNoShards) throw REFUSED;
  }
  call._refusals = (call._refusals ?? 0) + 1;
  const why = await import("./whyRefused.ts").then(
    ({ whyRefused }) =>
      whyRefused(
        by,
        written,
        written?.get(`marks.${slot}.nonces`)?.length ?? 0,
        entry && (undoneShard ? "undo" : "increment"),
        own,
        call._refusals as number,
      ),
    () => "see its policy",
  );
  if (!why) throw FULL;
  throw new CounterError("counter/permission-denied", `firestore.rules refuse ${by} for "${id}"; ${why}`, cause);
}
