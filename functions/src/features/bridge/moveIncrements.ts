/**
 * The bridge: moves what old apps still write for Google's counter into counters, by the fields of `BRIDGE`.
 *
 * A move empties all legacy shards of a document, so it covers every write committed before its `asOf`. An instance
 * remembers the last move from each document: most events of a busy document need no read, and an instance writes its field
 * at most once a second.
 */
import { logger } from "firebase-functions/logger";
import { mirrorSources } from "../../../../core/src/index.ts";
import { amountIn, LEGACY_SHARDS, moveLegacyIncrements } from "../../../../firestore/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { coalesce } from "../../counter/coalesce.ts";
import { type Millis, toMillis } from "../../counter/time.ts";
import { handleLost } from "../../shared/handleLost.ts";

/** The event of one write to a legacy shard. */
export interface LegacyWrite {
  /** The path of the document that the shard belongs to. */
  readonly document: string;
  readonly committedAt: Millis;
}

/** An instance moves from the same document at most once in this time. */
const SPACING: Millis = 1_000;

/** How many warnings an instance logs at most, since clients choose the names of fields. */
const MAX_REPORTS = 100;

/** The last move from a document: its read time, by the database's clock, and its start, by this instance's. */
interface LastMove {
  readonly asOf: Millis;
  readonly begun: Millis;
}

/** The event handler of one instance. It resolves when the write is in a counter; else it rejects, for a retry. */
export function createBridgeHandler(backend: Backend): (write: LegacyWrite) => Promise<void> {
  const { firestore, config, snapshotLag, now, sleep } = backend;
  const mirrors = config.mirrors.filter(({ isBridged }) => isBridged);
  const reported = new Set<string>();
  return coalesce<LegacyWrite, LastMove>({
    keyOf: ({ document }) => document,
    isCovered: ({ asOf }, { committedAt }) => committedAt <= asOf - snapshotLag,
    handle: move,
  });

  async function move({ document }: LegacyWrite, last: LastMove | undefined): Promise<LastMove | undefined> {
    const fields = mirrorSources(document, mirrors);
    if (fields.length === 0) {
      report(document, "any");
      return undefined;
    }
    const waited = now() - (last?.begun ?? 0);
    // Production's snapshots have no lag.
    await sleep(Math.max(snapshotLag, SPACING - waited));
    const begun = now();
    const { asOf, unmapped } = await moveLegacyIncrements(firestore, config.collection, document, fields);
    for (const field of unmapped) report(document, field);
    return { asOf: toMillis(asOf), begun };
  }

  /** Logs a warning once per instance, collection and field. */
  function report(document: string, field: string): void {
    const collection = document.slice(0, document.lastIndexOf("/"));
    const key = `${collection}\n${field}`;
    if (reported.has(key) || reported.size === MAX_REPORTS) return;
    reported.add(key);
    logger.warn("left increments of Google's counter alone: BRIDGE does not name their field", { document, field });
  }
}

/**
 * For the sweep: moves what lost events have left. It looks at one shard of each document: shards whose fields `BRIDGE` does not name
 * may hide others there until the next event. Cost: that of {@link handleLost} for each collection of `BRIDGE`, and of the moves.
 */
export async function moveLost(backend: Backend): Promise<void> {
  const { firestore, config } = backend;
  const mirrors = config.mirrors.filter(({ isBridged }) => isBridged);
  const collections = new Set(mirrors.map(({ document }) => document.split("/", 1).join()));
  const moves = [...collections].map((collection) =>
    handleLost(backend, firestore.collection(collection), LEGACY_SHARDS, async ({ path }, shard) => {
      const fields = mirrorSources(path, mirrors);
      if (!fields.some(({ field }) => amountIn(shard, field) !== undefined)) return false;
      await moveLegacyIncrements(firestore, config.collection, path, fields);
      return true;
    }),
  );
  await Promise.all(moves);
}
