/**
 * Wakes the aggregation of a counter when one of its shards was created, shard 0 or `base` was written, or a document of
 * the collection it counts was created or deleted. Later writes to other shards wake nobody: as long as there is such a
 * shard, the counter is polled (see outlook.ts), and so a busy counter costs hardly any invocations.
 *
 * The event carries no value, only "something was committed at this time". A memo of each counter's outlook answers
 * most events of a busy counter without any I/O; forgetting it, or being out of date, costs a read and nothing else.
 */
import { BASE_SHARD } from "../../core/src/index.ts";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { collectionOf } from "./counted.ts";
import { nothing, see, toMillis } from "./counter.ts";
import { WOKEN } from "./measure.ts";
import { judge, type Outlook, outlookOf } from "./outlook.ts";
import { measureCounter } from "./recount.ts";

/** One write that a counter's total depends on. */
export interface Written {
  readonly counterId: string;
  /** The shard it changed; absent if it created or deleted a counted document. */
  readonly shardId?: string;
  /** Whether it created that shard. */
  readonly isNew?: boolean;
  /** The update time of the document. Not the event's time, which may be rounded. After a deletion, `deletedBy`. */
  readonly committedAt: Millis;
}

/** Counters an instance remembers. About 100 bytes each. */
const MEMO_SIZE = 10_000;

/**
 * @returns the handler of one instance. It resolves when the write is counted or certain to be, and rejects when it
 *          must be tried again.
 */
export function createWake(backend: Backend): (event: Written) => Promise<void> {
  const memo = new Map<string, Outlook>();
  const underWay = new Map<string, Promise<void>>();

  return async function wake(event) {
    for (;;) {
      const outlook = memo.get(event.counterId);
      if (outlook && judge(event.committedAt, outlook, backend.now()) === "covered") return;
      const other = underWay.get(event.counterId);
      if (!other) break;
      // Whatever it comes to, its own event reports it; this one looks again.
      await other.catch(() => undefined);
    }
    const attending = attend(event).finally(() => underWay.delete(event.counterId));
    underWay.set(event.counterId, attending);
    await attending;
  };

  async function attend(event: Written): Promise<void> {
    const { counterId, committedAt } = event;
    if (await isPublish(event)) return;
    const known = memo.get(counterId);
    // Before `due` nobody may have published since (I4), so what the memo says still stands.
    const verdict = known && judge(committedAt, known, backend.now());
    if (known && typeof verdict === "object") return await schedule(counterId, known.due, verdict.scheduleAt);

    // If nobody was to look after this counter, it has most likely been idle and its total is due: then all of it is
    // read in one round trip. Else somebody most likely has, and its shards need not be read.
    const ref = backend.counters.doc(counterId);
    const attended = known !== undefined && known.coveredUntil >= known.due;
    const [seen, measurement] = await Promise.all([
      !known && isFirst(event) ? nothing(ref) : see(ref),
      attended ? undefined : measureCounter(backend, ref),
    ]);
    const outlook = seen.published && outlookOf(seen.published, backend.margin, backend.config);
    if (outlook && judge(committedAt, outlook, backend.now()) === "covered") return remember(counterId, outlook);
    const done = await aggregate(backend, seen, event, measurement);
    remember(counterId, done.outlook);
  }

  /**
   * Whether it most likely began the counter, so that there is no counter document worth a read. If there is one, creating
   * it fails, and it is read.
   */
  function isFirst({ counterId, shardId, isNew }: Written): boolean {
    return isNew === true && shardId === WOKEN[0] && collectionOf(counterId, backend.config.counted) === undefined;
  }

  /**
   * Whether the event is about the publish of a counter that counts a collection: `base` and the counter document were
   * written in one commit, so at one instant. Then there is nothing to count. Cost: 1 read, of such an event alone.
   */
  async function isPublish({ counterId, shardId, committedAt }: Written): Promise<boolean> {
    if (shardId !== BASE_SHARD || collectionOf(counterId, backend.config.counted) === undefined) return false;
    const { updateTime } = await backend.counters.doc(counterId).get();
    return updateTime !== undefined && toMillis(updateTime) === committedAt;
  }

  async function schedule(counterId: string, due: Millis, promised: Millis): Promise<void> {
    await backend.schedule({ counterId, due: promised });
    remember(counterId, { due, coveredUntil: promised });
  }

  function remember(counterId: string, outlook: Outlook): void {
    memo.delete(counterId);
    memo.set(counterId, outlook);
    if (memo.size > MEMO_SIZE) memo.delete(memo.keys().next().value as string);
  }
}
