/** The Pub/Sub side of ingest. Who may publish to the topic is a matter of IAM, so a message may count any counter. */
import { logError } from "../../counter/log.ts";
import { type BatchLimits, InvalidBatch, parseBatch, type Unit, unitsOf } from "./events.ts";
import { type IngestResult, MAX_WAITING } from "./grouping.ts";
import { LARGEST_AMOUNT } from "./parseIngestConfig.ts";

/** A message of Pub/Sub. */
export interface Message {
  /** The same when the message is delivered again. It takes the place of an id that the batch does not have. */
  readonly id: string;
  /** A batch, as JSON. */
  readonly data: string;
}

/** Fewer events than an instance may hold ({@link MAX_WAITING}), or the message would always be refused. */
const LIMITS: BatchLimits = {
  counters: undefined,
  visitors: true,
  items: true,
  maxEvents: MAX_WAITING / 2,
  maxAmount: LARGEST_AMOUNT,
  maxSum: Number.POSITIVE_INFINITY,
};

/** The handler of one instance. It resolves when the message is committed; else it rejects, and Pub/Sub delivers it again. */
export function createMessageHandler(add: (units: readonly Unit[]) => Promise<IngestResult>) {
  return async ({ id, data }: Message): Promise<void> => {
    let units: readonly Unit[];
    try {
      const batch = parseBatch(data, LIMITS, id);
      if (batch.skipped?.length) throw new InvalidBatch(`with skipInvalid: ${batch.skipped[0]?.error}`);
      units = unitsOf(batch);
    } catch (error) {
      if (!(error instanceof InvalidBatch)) throw error;
      // It would be as invalid the next time.
      logError("dropped a message of ingest that is no valid batch", { messageId: id, error });
      return;
    }
    await add(units);
  };
}
