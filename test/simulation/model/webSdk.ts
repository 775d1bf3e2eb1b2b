/**
 * Replaces `firebase/firestore`, as far as increments need it: one ordered stream of writes, which after a cut continues
 * with the first unacknowledged write; reads that see the client's own pending writes; and transactions, which are single
 * calls beside the stream. The SDK itself does nothing else while one commits; here other calls may overtake it, which is one
 * of the orders in which they reach a server.
 */
import { commitBy, planted } from "../mutations/mutation.ts";
import { Firestore as AdminFirestore, type CollectionReference } from "./adminSdk.ts";
import { apply, type Change, Code, type Data, fieldOf, Refused, type Version, type Write } from "./database.ts";
import type { Connection } from "./network.ts";
import { AggregateField, type Query } from "./reads.ts";
import { authorize } from "./rules.ts";
import { Bytes, type Fields, FieldValue, isMap, type Micros, Timestamp, type Value } from "./values.ts";

export { Bytes, Timestamp };
export const increment = FieldValue.increment;
export const serverTimestamp = FieldValue.serverTimestamp;
export const deleteField = FieldValue.delete;
export const arrayUnion = FieldValue.arrayUnion;

/** How many writes the SDK sends ahead of their acknowledgements. */
const PIPELINE = 10;

const MS = 1_000;
/** All other codes become `unavailable`, with which the outcome is unknown. */
const CODES: Record<number, string> = {
  [Code.PERMISSION_DENIED]: "permission-denied",
  [Code.ABORTED]: "aborted",
  [Code.FAILED_PRECONDITION]: "failed-precondition",
  [Code.NOT_FOUND]: "not-found",
};
/** The errors after which a transaction is retried (https://github.com/firebase/firebase-js-sdk, `transaction_runner.ts`). */
const RETRIED = ["aborted", "failed-precondition", "unavailable"];
/** The SDK's default of `maxAttempts`. */
const ATTEMPTS = 5;

export class FirestoreError extends Error {
  readonly code: string;
  constructor({ code, message }: Refused) {
    super(message);
    this.code = CODES[code] ?? "unavailable";
  }
}

interface Pending {
  readonly writes: readonly Write[];
  /** The documents after the commit. */
  committed?: readonly Version[];
  readonly resolve: () => void;
  readonly reject: (error: FirestoreError) => void;
}

export class Firestore {
  readonly connection: Connection;
  readonly pending: Pending[] = [];
  /** The documents that this client has written through its queue, as they were after that. */
  readonly cache = new Map<string, Fields | undefined>();
  /** Until then the device is offline, because its stream was cut. */
  offlineUntil: Micros = 0;
  #isSending = false;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** Of the process, as it asks the rules. */
  authorize(changes: readonly Change[]): void {
    authorize(changes);
  }

  /** @throws Refused if the device is offline, or if the rules do not let the user read the document */
  checkRead(_path: string): void {}

  /** The server's document with the client's own pending writes applied. */
  async get(ref: DocumentReference): Promise<DocumentSnapshot> {
    const { fields } = await read(ref);
    return withPendingWrites(ref, fields);
  }

  /** The cache has what this client has written through its queue, and what is pending there. */
  getFromCache(ref: DocumentReference): DocumentSnapshot {
    if (!this.cache.has(ref.path) && pendingWrites(ref).length === 0)
      throw new FirestoreError(new Refused(Code.UNAVAILABLE, "not in the cache"));
    return withPendingWrites(ref, this.cache.get(ref.path));
  }

  /** Hears nothing: what listeners show is simulated where users change (device.ts). */
  listen(
    _ref: DocumentReference,
    _next: (snapshot: DocumentSnapshot) => void,
    _error: (error: FirestoreError) => void,
  ): () => void {
    return () => {};
  }

  listenToCache(_collection: string, _next: (snapshot: never) => void): () => void {
    return () => {};
  }

  whenSent(): Promise<void> {
    return Promise.resolve();
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
    const { requestDelay, responseDelay, retryDelay } = faults.callOutcome(process);
    const sent = this.pending.slice(0, PIPELINE);
    const [arrivedShare, answeredShare] = [process.random.next(), process.random.next()];
    const isCut = faults.injectByChance("cut connections", process);
    const arrived = isCut ? Math.floor(arrivedShare * (sent.length + 1)) : sent.length;
    const answered = isCut ? Math.floor(answeredShare * (arrived + 1)) : sent.length;
    scheduler.after(requestDelay, () => {
      const outcomes: (Refused | undefined)[] = [];
      // A rejected write ends the stream.
      for (let i = 0; i < arrived && !outcomes.some(Boolean); i++) outcomes.push(this.#arrive(sent[i] as Pending));
      const answer = () => {
        for (const refused of outcomes.slice(0, answered)) {
          const { writes, committed = [], resolve, reject } = this.pending.shift() as Pending;
          for (const { path, fields } of committed) this.cache.set(path, fields);
          log(process, () => `${writes[0]?.path} → ${refused ? "rejected" : "acknowledged"}`);
          if (refused) reject(new FirestoreError(refused));
          else resolve();
        }
        if (isCut) log(process, () => `connection cut: ${arrived} of ${sent.length} arrived, ${answered} answered`);
        const next = () => {
          if (this.pending.length > 0) this.#send();
          else this.#isSending = false;
        };
        if (isCut) this.offlineUntil = scheduler.now + retryDelay;
        scheduler.after(isCut ? retryDelay : 0, next, process);
      };
      scheduler.after(responseDelay, answer, process);
    });
  }

  #arrive(pending: Pending): Refused | undefined {
    const { writes } = pending;
    const { process, network } = this.connection;
    let refused: Refused | undefined;
    try {
      this.connection.commit(writes, authorize);
      pending.committed = writes.map(({ path }) => this.connection.database.get(path));
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
  readonly metadata: { readonly fromCache: boolean; readonly hasPendingWrites: boolean };
  readonly #fields: Fields | undefined;
  readonly #acknowledged: Fields | undefined;
  constructor(
    ref: DocumentReference,
    fields: Fields | undefined,
    metadata = { fromCache: false, hasPendingWrites: false },
    acknowledged?: Fields,
  ) {
    this.#acknowledged = acknowledged;
    this.ref = ref;
    this.#fields = fields;
    this.metadata = metadata;
  }
  get id() {
    return this.ref.id;
  }
  exists(): boolean {
    return this.#fields !== undefined;
  }
  get(field: string, { serverTimestamps }: { serverTimestamps?: "previous" } = {}): Value | undefined {
    const value = fieldOf(this.#fields, field);
    return value === null && serverTimestamps ? (fieldOf(this.#acknowledged, field) ?? null) : value;
  }
}

export function collection(firestore: Firestore, path: string): CollectionReference & Owned {
  return Object.assign(new AdminFirestore(firestore.connection).collection(path), { owner: firestore });
}

interface Owned {
  readonly owner: Firestore;
}

export const orderBy = (field: string) => field;
export const limit = (count: number) => count;
export const query = (all: CollectionReference | Query, constraint: string | number): Query =>
  typeof constraint === "string" ? all.orderBy(constraint) : all.limit(constraint);
export const { count, sum } = AggregateField;

/** Queries are single calls beside the stream of writes. */
export const getAggregateFromServer = (query: Query, fields: Record<string, AggregateField>) =>
  withWebErrors(query.aggregate(fields).get());
export const getCountFromServer = (query: Query) => withWebErrors(query.count().get());
export const getDocsFromServer = async (query: Query) =>
  Object.assign(await withWebErrors(query.get()), { metadata: { hasPendingWrites: false } });
export const waitForPendingWrites = (firestore: Firestore) => firestore.whenSent();

async function withWebErrors<T>(call: Promise<T>): Promise<T> {
  return await call.catch((error) => {
    throw error instanceof Refused ? new FirestoreError(error) : error;
  });
}

export function doc(firestore: Firestore, path: string): DocumentReference {
  return new DocumentReference(firestore, path);
}

export function getDoc(ref: DocumentReference): Promise<DocumentSnapshot> {
  return ref.firestore.get(ref);
}

export async function getDocFromCache(ref: DocumentReference): Promise<DocumentSnapshot> {
  return ref.firestore.getFromCache(ref);
}

function withPendingWrites(ref: DocumentReference, fields: Fields | undefined): DocumentSnapshot {
  const shown = pendingWrites(ref).reduce((before, write) => apply(write, before, Number.NaN), fields);
  return new DocumentSnapshot(ref, withoutPendingTimes(shown), undefined, fields);
}

/** The SDK shows no time for a server timestamp that is not acknowledged. */
export function withoutPendingTimes(fields: Fields | undefined): Fields | undefined {
  if (!fields) return undefined;
  const shown = (value: Value): Value => {
    if (value instanceof Timestamp) return Number.isNaN(value.seconds) ? null : value;
    return isMap(value) ? (withoutPendingTimes(value as Fields) as Fields) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(value)]));
}

function pendingWrites({ firestore, path }: DocumentReference): Write[] {
  return firestore.pending.flatMap(({ writes }) => writes).filter((write) => write.path === path);
}

export function onSnapshot(
  ref: DocumentReference | (CollectionReference & Owned),
  _options: unknown,
  next: (snapshot: never) => void,
  error: (error: FirestoreError) => void,
): () => void {
  if (ref instanceof DocumentReference)
    return ref.firestore.listen(ref, next as (snapshot: DocumentSnapshot) => void, error);
  return ref.owner.listenToCache(ref.plan.collection, next);
}

/** The writes of a batch or a transaction. */
class Writes {
  readonly writes: Write[] = [];

  set({ path }: DocumentReference, data: Data, { merge = false }: { merge?: boolean } = {}): this {
    this.writes.push({ path, kind: merge ? "merge" : "set", data });
    return this;
  }
  update({ path }: DocumentReference, data: Data): this {
    this.writes.push({ path, kind: "update", data });
    return this;
  }
  delete({ path }: DocumentReference): this {
    this.writes.push({ path, kind: "delete" });
    return this;
  }
}

export class WriteBatch extends Writes {
  readonly #firestore: Firestore;
  constructor(firestore: Firestore) {
    super();
    this.#firestore = firestore;
  }
  commit(): Promise<void> {
    const { process, database } = this.#firestore.connection;
    const commit = (writes: readonly Write[]) => this.#firestore.enqueue(writes);
    return commitBy({ process, database, via: "queue" }, this.writes, commit) as Promise<void>;
  }
}

export function writeBatch(firestore: Firestore): WriteBatch {
  return new WriteBatch(firestore);
}

/**
 * A transaction of the web SDK takes no lock: its commit is rejected if a document that it read has changed. It is one call,
 * which overtakes the stream of writes and fails when the device is offline. With the error `aborted`, nothing was
 * committed. With `unavailable`, the outcome is unknown, and the call may still arrive.
 */
export class Transaction extends Writes {
  readonly #firestore: Firestore;
  readonly #read: Version[] = [];

  constructor(firestore: Firestore) {
    super();
    this.#firestore = firestore;
  }

  async get(ref: DocumentReference): Promise<DocumentSnapshot> {
    const version = await readOnce(ref);
    this.#read.push(version);
    return new DocumentSnapshot(ref, version.fields);
  }

  async commit(): Promise<void> {
    const { connection, offlineUntil } = this.#firestore;
    const { scheduler } = connection.network;
    if (this.writes.length === 0) return;
    if (scheduler.now < offlineUntil) throw new Refused(Code.UNAVAILABLE, "offline");
    const { process, database } = connection;
    const atServer = (writes: readonly Write[]) => {
      for (const { path, updateTime, fields } of this.#read) {
        const now = database.get(path);
        const isSame = !now.fields === !fields && (!fields || now.updateTime === updateTime);
        if (!isSame) throw new Refused(Code.FAILED_PRECONDITION, path);
      }
      return connection.commit(writes, (changes) => this.#firestore.authorize(changes));
    };
    const commit = (writes: readonly Write[]) => connection.call(describe(writes), () => atServer(writes), "commit");
    await commitBy({ process, database, via: "transaction" }, this.writes, commit);
  }
}

export async function runTransaction<T>(
  firestore: Firestore,
  update: (transaction: Transaction) => Promise<T>,
  { maxAttempts = ATTEMPTS }: { readonly maxAttempts?: number } = {},
): Promise<T> {
  const { scheduler } = firestore.connection.network;
  for (let attempt = 1; ; attempt++) {
    try {
      const transaction = new Transaction(firestore);
      const result = await update(transaction);
      await transaction.commit();
      return result;
    } catch (cause) {
      const error = cause instanceof Refused ? new FirestoreError(cause) : cause;
      const isRetried = error instanceof FirestoreError && RETRIED.includes(error.code);
      if (!isRetried || attempt >= maxAttempts) throw error;
      await scheduler.sleep(100 * MS, firestore.connection.process);
    }
  }
}

/** Retries until the server can be reached. */
async function read(ref: DocumentReference): Promise<Version> {
  const { network, process } = ref.firestore.connection;
  for (;;) {
    try {
      return await readOnce(ref);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await network.scheduler.sleep(100 * MS, process);
    }
  }
}

async function readOnce({ firestore, path }: DocumentReference): Promise<Version> {
  const { connection } = firestore;
  firestore.checkRead(path);
  return connection.call(`get ${path}`, () => {
    const [, instant] = /\/time\/(\d+)$/.exec(path) ?? [];
    if (instant && connection.network.scheduler.now < Number(instant) * MS)
      throw new Refused(Code.PERMISSION_DENIED, "not past");
    connection.bill(1);
    const version = connection.database.get(path);
    return planted.document?.(version, connection.process) ?? version;
  });
}

function describe(writes: readonly Write[]): string {
  return writes.map(({ kind, path }) => `${kind} ${path}`).join(", ");
}
