/**
 * A shard that this process writes alone, so that its increments are exact whatever becomes of a call.
 *
 * A server's call may fail after it was committed, and the Admin SDK sends some calls again by itself. So what is sent is
 * no increment but the cumulative sum since the register was opened, and the server keeps the larger: sending it again,
 * or late, or out of order, changes nothing. Increments made while a write is under way share the next one.
 *
 *     open ── create shards/add-X and registers/X, once ──→ update shards/add-X: count = maximum(sum) ──→ …
 *      ▲                                                            │ not found: it was quiet, and was folded
 *      └───────── what registers/X says was not folded ◀────────────┘
 *
 * A fold deletes the shard and notes in `registers/X` what it stood at, in one commit. Since updates want the shard to
 * exist, and opening wants `registers/X` not to, nothing that was folded can be written again.
 */
import { FieldValue, type Firestore } from "firebase-admin/firestore";
import { ALREADY_EXISTS, CounterError, codeOf, NOT_FOUND, registerPath, shardsPath } from "../../../core/src/index.ts";
import { backoff, isTransient, persist } from "./retry.ts";

interface Waiting {
  readonly by: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Of one process, counter and direction: `add` counts up and `sub` down, each by positive amounts. */
export class Register {
  readonly #firestore: Firestore;
  readonly #counter: string;
  readonly #direction: "add" | "sub";
  #shard: string;
  #isOpen = false;
  /** Everything added since it was opened, what is being written included. */
  #sum = 0;
  /** As much of it as was acknowledged. */
  #acknowledged = 0;
  #writes = 0;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(firestore: Firestore, counter: string, direction: "add" | "sub") {
    this.#firestore = firestore;
    this.#counter = counter;
    this.#direction = direction;
    this.#shard = this.#newShard();
  }

  /**
   * Resolves once it is acknowledged. Waits as long as Firestore cannot be reached.
   *
   * Cost: 1 write, shared with what is added until it is sent; 1 more when the register is opened.
   */
  add(by: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ by, resolve, reject });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    // What is added in the same turn goes into the same write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0);
      const by = some.reduce((sum, one) => sum + one.by, 0);
      this.#sum += by;
      try {
        await this.#land();
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.#isWriting = false;
  }

  /**
   * Writes the sum until it is certain to count.
   *
   * @throws what will not pass. Whether the sum has landed may then be unknown, so that register is left alone from here
   *         on: what is added later must not hide behind it
   */
  async #land(): Promise<void> {
    let mayHaveLanded = false;
    for (let tries = 0; this.#sum > this.#acknowledged; tries++) {
      try {
        await (this.#isOpen ? this.#update() : this.#open());
        this.#isOpen = true;
        this.#acknowledged = this.#sum;
        this.#writes++;
      } catch (error) {
        if (!this.#isOpen && codeOf(error) === ALREADY_EXISTS) this.#isOpen = true;
        else if (this.#isOpen && codeOf(error) === NOT_FOUND) {
          this.#renew(this.#sum - (await this.#folded()));
        } else if (isTransient(error)) {
          mayHaveLanded = true;
          await backoff(tries, error);
        } else {
          this.#renew(0);
          throw mayHaveLanded ? unknownOutcome(error) : error;
        }
      }
    }
  }

  async #open(): Promise<void> {
    const batch = this.#firestore.batch();
    batch.create(this.#firestore.doc(registerPath(this.#counter, this.#shard)), {});
    batch.create(this.#doc(), this.#fields());
    await batch.commit();
  }

  async #update(): Promise<void> {
    await this.#doc().update(this.#fields());
  }

  #fields() {
    return {
      count: this.#direction === "add" ? FieldValue.maximum(this.#sum) : FieldValue.minimum(-this.#sum),
      writes: FieldValue.maximum(this.#writes + 1),
      at: FieldValue.serverTimestamp(),
    };
  }

  /** How much of the sum was folded. If the counter was deleted, so is what had landed. */
  async #folded(): Promise<number> {
    const note = await persist(() => this.#firestore.doc(registerPath(this.#counter, this.#shard)).get());
    return Math.abs(note.get("folded") ?? this.#acknowledged);
  }

  /** From here on another register, for what is still to be written. */
  #renew(sum: number): void {
    this.#sum = sum;
    this.#acknowledged = 0;
    this.#writes = 0;
    this.#isOpen = false;
    this.#shard = this.#newShard();
  }

  #doc() {
    return this.#firestore.doc(`${shardsPath(this.#counter)}/${this.#shard}`);
  }

  #newShard(): string {
    return `${this.#direction}-${this.#firestore.collection("_").doc().id}`;
  }
}

function unknownOutcome(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the increment may count or not: a call was sent whose answer never came, and now Firestore refuses. Do not repeat it",
    cause,
  );
}
