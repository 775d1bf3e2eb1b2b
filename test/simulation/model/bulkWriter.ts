/**
 * Replaces the server SDK's `BulkWriter`: many writes in few calls, each write its own commit. Writes that certainly failed
 * are retried.
 */
import type { DocumentReference, Firestore } from "./adminSdk.ts";
import { Code, Refused, type Write } from "./database.ts";
import { type Micros, Timestamp } from "./values.ts";

/** Writes in one call. */
const WRITES_PER_CALL = 20;
const ATTEMPTS = 10;
const MS = 1_000;

/** The SDK does not retry after a timeout, when the outcome is unknown. */
const RETRIED: readonly number[] = [Code.ABORTED, Code.UNAVAILABLE];

class WriteResult {
  readonly writeTime: Timestamp;
  constructor(writeTime: Micros) {
    this.writeTime = Timestamp.fromMicros(writeTime);
  }
}

interface Operation {
  readonly ref: DocumentReference;
  readonly write: Write;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
}

export class BulkWriter {
  readonly #firestore: Firestore;
  readonly #waiting: Operation[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  #onResult: (ref: DocumentReference, result: WriteResult) => void = () => {};

  constructor(firestore: Firestore) {
    this.#firestore = firestore;
  }

  onWriteResult(callback: (ref: DocumentReference, result: WriteResult) => void): void {
    this.#onResult = callback;
  }

  delete(ref: DocumentReference): Promise<WriteResult> {
    const done = new Promise<WriteResult>((resolve, reject) => {
      this.#waiting.push({ ref, write: { path: ref.path, kind: "delete" }, resolve, reject, attempts: 0 });
    });
    // A caller that only flushes ignores errors.
    done.catch(() => undefined);
    if (this.#waiting.length >= WRITES_PER_CALL) this.#send();
    return done;
  }

  /** Resolves when every write so far has succeeded or failed. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#pending.size > 0) {
      if (this.#waiting.length > 0) this.#send();
      await Promise.all(this.#pending);
    }
  }

  close(): Promise<void> {
    return this.flush();
  }

  #send(): void {
    const sent = this.#waiting.splice(0, WRITES_PER_CALL);
    const sending = this.#call(sent).finally(() => this.#pending.delete(sending));
    this.#pending.add(sending);
  }

  async #call(sent: readonly Operation[]): Promise<void> {
    const { connection } = this.#firestore;
    const { scheduler } = connection.network;
    const paths = sent.map(({ write }) => `delete ${write.path}`).join(", ");
    const outcomes = await connection
      .call(paths, () => sent.map(({ write }) => outcomeOf(() => connection.commit([write])[0] as Micros)))
      .catch((error: Refused) => sent.map(() => error));
    let mustWait = false;
    for (const [i, operation] of sent.entries()) {
      const outcome = outcomes[i];
      if (!(outcome instanceof Refused)) {
        const result = new WriteResult(outcome as Micros);
        this.#onResult(operation.ref, result);
        operation.resolve(result);
      } else if (RETRIED.includes(outcome.code) && ++operation.attempts < ATTEMPTS) {
        this.#waiting.push(operation);
        mustWait = true;
      } else operation.reject(outcome);
    }
    if (mustWait) await scheduler.sleep(100 * MS, connection.process);
  }
}

function outcomeOf(commit: () => Micros): Micros | Refused {
  try {
    return commit();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}
