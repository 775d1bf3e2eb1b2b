/**
 * Stands for `firebase/firestore`, as far as increments need it: one stream of writes, in order, sent again from the first
 * unacknowledged one when its connection is cut; and reads that see this client's own unsent writes.
 */
import { apply, Code, type Data, fieldOf, Refused, type Version, type Write } from "./database.ts";
import type { Connection } from "./network.ts";
import { authorize } from "./rules.ts";
import { type Fields, FieldValue, type Micros, Timestamp, type Value } from "./values.ts";

export { Timestamp };
export const increment = FieldValue.increment;
export const serverTimestamp = FieldValue.serverTimestamp;

/** How many writes the SDK sends ahead of their acknowledgements. */
const PIPELINE = 10;

const MS = 1_000;
const CODES: Record<number, string> = { [Code.PERMISSION_DENIED]: "permission-denied", [Code.ABORTED]: "aborted" };

class FirestoreError extends Error {
  readonly code: string;
  constructor({ code, message }: Refused) {
    super(message);
    this.code = CODES[code] ?? "unavailable";
  }
}

interface Pending {
  readonly writes: readonly Write[];
  readonly resolve: () => void;
  readonly reject: (error: FirestoreError) => void;
}

export class Firestore {
  readonly connection: Connection;
  readonly pending: Pending[] = [];
  #isSending = false;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  enqueue(writes: readonly Write[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.pending.push({ writes, resolve, reject });
      if (!this.#isSending) this.#send();
    });
  }

  #send(): void {
    this.#isSending = true;
    const { process, network } = this.connection;
    if (process.isDead) return;
    const { scheduler, faults, log } = network;
    const { there, back, again } = faults.ofCall(process);
    const sent = this.pending.slice(0, PIPELINE);
    const [cutAt, heardAt] = [process.random.next(), process.random.next()];
    const isCut = faults.strikes("cut connections", process);
    const arrived = isCut ? Math.floor(cutAt * (sent.length + 1)) : sent.length;
    const heard = isCut ? Math.floor(heardAt * (arrived + 1)) : sent.length;
    scheduler.in(there, () => {
      const outcomes: (Refused | undefined)[] = [];
      // A refused write ends the stream.
      for (let i = 0; i < arrived && !outcomes.some(Boolean); i++) outcomes.push(this.#arrive(sent[i] as Pending));
      const answer = () => {
        for (const refused of outcomes.slice(0, heard)) {
          const { writes, resolve, reject } = this.pending.shift() as Pending;
          log(process, () => `${writes[0]?.path} → ${refused ? "refused" : "acknowledged"}`);
          if (refused) reject(new FirestoreError(refused));
          else resolve();
        }
        if (isCut) log(process, () => `connection cut: ${arrived} of ${sent.length} arrived, heard of ${heard}`);
        const next = () => {
          if (this.pending.length > 0) this.#send();
          else this.#isSending = false;
        };
        scheduler.in(isCut ? again : 0, next, process);
      };
      scheduler.in(back, answer, process);
    });
  }

  #arrive({ writes }: Pending): Refused | undefined {
    const { process, network } = this.connection;
    let refused: Refused | undefined;
    try {
      this.connection.commit(writes, authorize);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error;
    }
    network.log(process, () => `write ${writes[0]?.path} at the server: ${refused?.message ?? "ok"}`);
    return refused;
  }
}

export class DocumentReference {
  readonly firestore: Firestore;
  readonly path: string;
  constructor(firestore: Firestore, path: string) {
    this.firestore = firestore;
    this.path = path;
  }
  get id() {
    return this.path.slice(this.path.lastIndexOf("/") + 1);
  }
}

export class DocumentSnapshot {
  readonly ref: DocumentReference;
  readonly #fields: Fields | undefined;
  constructor(ref: DocumentReference, fields: Fields | undefined) {
    this.ref = ref;
    this.#fields = fields;
  }
  get id() {
    return this.ref.id;
  }
  exists(): boolean {
    return this.#fields !== undefined;
  }
  get(field: string): Value | undefined {
    return fieldOf(this.#fields, field);
  }
}

export function doc(firestore: Firestore, path: string): DocumentReference {
  return new DocumentReference(firestore, path);
}

/** What the server has, with this client's own unsent writes on top. */
export async function getDoc(ref: DocumentReference): Promise<DocumentSnapshot> {
  const { fields } = await read(ref);
  const now: Micros = ref.firestore.connection.network.scheduler.now;
  const own = ref.firestore.pending.flatMap(({ writes }) => writes).filter(({ path }) => path === ref.path);
  return new DocumentSnapshot(
    ref,
    own.reduce((before, write) => apply(write, before, now), fields),
  );
}

export class WriteBatch {
  readonly #firestore: Firestore;
  readonly #writes: Write[] = [];
  constructor(firestore: Firestore) {
    this.#firestore = firestore;
  }
  set({ path }: DocumentReference, data: Data, { merge = false }: { merge?: boolean } = {}): this {
    this.#writes.push({ path, kind: merge ? "merge" : "set", data });
    return this;
  }
  delete({ path }: DocumentReference): this {
    this.#writes.push({ path, kind: "delete" });
    return this;
  }
  commit(): Promise<void> {
    return this.#firestore.enqueue(this.#writes);
  }
}

export function writeBatch(firestore: Firestore): WriteBatch {
  return new WriteBatch(firestore);
}

/** A transaction that only reads: Tally's web client has no other. */
export async function runTransaction(
  _firestore: Firestore,
  update: (transaction: { get(ref: DocumentReference): Promise<DocumentSnapshot> }) => Promise<unknown>,
): Promise<unknown> {
  return await update({ get: async (ref) => new DocumentSnapshot(ref, (await read(ref)).fields) });
}

/** Waits as long as the server cannot be reached. */
async function read({ firestore, path }: DocumentReference): Promise<Version> {
  const { connection } = firestore;
  for (;;) {
    try {
      return await connection.call(`get ${path}`, () => {
        connection.bill(1);
        return connection.database.get(path);
      });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await connection.network.scheduler.sleep(100 * MS, connection.process);
    }
  }
}
