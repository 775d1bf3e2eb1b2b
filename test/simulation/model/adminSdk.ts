/**
 * Replaces `firebase-admin/firestore`: the part of its API that Tally uses. The database performs each call. The connection
 * decides when it arrives, whether it does, and what its caller learns.
 */
import { commitBy, planted } from "../mutations/mutation.ts";
import { BulkWriter } from "./bulkWriter.ts";
import { Code, type Data, Refused, type Version, type Write } from "./database.ts";
import type { Connection } from "./network.ts";
import {
  AggregateField,
  AggregateQuerySnapshot,
  DocumentSnapshot,
  FieldPath,
  Query,
  QuerySnapshot,
  type Readable,
} from "./reads.ts";
import { FieldValue, isMap, type Micros, Timestamp, type Value } from "./values.ts";

export { AggregateField, FieldPath, FieldValue, Timestamp };

/** The SDK tries an aborted transaction this often. */
const ATTEMPTS = 5;

interface Precondition {
  readonly lastUpdateTime?: Timestamp;
}

export class CollectionReference extends Query {
  readonly path: string;

  constructor(firestore: Firestore, path: string) {
    super(firestore, { collection: path, filters: [] });
    this.path = path;
  }
  get id() {
    return this.path.slice(this.path.lastIndexOf("/") + 1);
  }
  get parent(): DocumentReference | null {
    const slash = this.path.lastIndexOf("/");
    return slash < 0 ? null : this.firestore.doc(this.path.slice(0, slash));
  }
  doc(id = this.firestore.newId()): DocumentReference {
    return this.firestore.doc(`${this.path}/${id}`);
  }
}

export class DocumentReference implements Readable<DocumentSnapshot> {
  readonly firestore: Firestore;
  readonly path: string;

  constructor(firestore: Firestore, path: string) {
    this.firestore = firestore;
    this.path = path;
  }
  get id() {
    return this.path.slice(this.path.lastIndexOf("/") + 1);
  }
  get parent(): CollectionReference {
    return this.firestore.collection(this.path.slice(0, this.path.lastIndexOf("/")));
  }
  get what() {
    return `get ${this.path}`;
  }
  collection(id: string): CollectionReference {
    return this.firestore.collection(`${this.path}/${id}`);
  }
  read(at: Micros): DocumentSnapshot {
    const { connection } = this.firestore;
    connection.bill(1);
    const version = connection.database.get(this.path, at);
    return new DocumentSnapshot(this, planted.document?.(version, connection.process) ?? version, at);
  }
  get(): Promise<DocumentSnapshot> {
    return this.firestore.read(this);
  }
  create(data: Data) {
    return this.firestore.batch().create(this, data).commit();
  }
  set(data: Data, options?: { merge?: boolean; mergeFields?: string[] }) {
    return this.firestore.batch().set(this, data, options).commit();
  }
  update(data: Data, precondition?: Precondition) {
    return this.firestore.batch().update(this, data, precondition).commit();
  }
  delete(precondition?: Precondition) {
    return this.firestore.batch().delete(this, precondition).commit();
  }
}

/** The writes of a batch or a transaction. */
class Writes {
  readonly writes: Write[] = [];

  create(ref: DocumentReference, data: Data): this {
    return this.#add({ path: ref.path, kind: "create", data });
  }
  set(ref: DocumentReference, data: Data, options: { merge?: boolean; mergeFields?: string[] } = {}): this {
    const { merge = false, mergeFields } = options;
    if (mergeFields) return this.#add({ path: ref.path, kind: "mergeFields", data });
    return this.#add({ path: ref.path, kind: merge ? "merge" : "set", data });
  }
  update(ref: DocumentReference, data: Data, precondition?: Precondition): this;
  update(ref: DocumentReference, field: FieldPath, value: Value, precondition?: Precondition): this;
  update(ref: DocumentReference, what: Data | FieldPath, more?: Precondition | Value, guarded?: Precondition): this {
    const { path } = ref;
    if (!(what instanceof FieldPath)) {
      return this.#add({ path, kind: "update", data: what, ...guard(more as Precondition | undefined) });
    }
    return this.#add({ path, kind: "update", data: { [what.names.join(".")]: more as Value }, ...guard(guarded) });
  }
  delete(ref: DocumentReference, precondition?: Precondition): this {
    return this.#add({ path: ref.path, kind: "delete", ...guard(precondition) });
  }
  #add(write: Write): this {
    if (isMap(write.data) && Object.values(write.data).includes(undefined as never)) {
      throw new Error(`undefined is not a value: ${write.path}`);
    }
    this.writes.push(write);
    return this;
  }
}

function guard(precondition?: Precondition) {
  return { lastUpdateTime: precondition?.lastUpdateTime?.toMicros() };
}

export class WriteBatch extends Writes {
  readonly #firestore: Firestore;

  constructor(firestore: Firestore) {
    super();
    this.#firestore = firestore;
  }
  async commit(): Promise<{ writeTime: Timestamp }[]> {
    const { connection } = this.#firestore;
    const commit = (writes: readonly Write[]) =>
      connection.call(
        describe(writes),
        () => {
          if (connection.isFailing(writes)) throw new Refused(Code.UNAVAILABLE, "fails for long");
          return connection.commit(writes);
        },
        "commit",
      );
    const { process, database } = connection;
    const updateTimes = (await commitBy({ process, database, via: "batch" }, this.writes, commit)) as Micros[];
    return updateTimes.map((micros) => ({ writeTime: Timestamp.fromMicros(micros) }));
  }
}

/** The writes in the printed history. */
function describe(writes: readonly Write[]): string {
  return writes.map(({ kind, path }) => `${kind} ${path}`).join(", ") || "commit";
}

export interface TransactionOptions {
  readonly readOnly?: boolean;
  /** For a read-only transaction: the instant to read at. The default is the time of its first read. */
  readonly readTime?: Timestamp;
}

/**
 * A transaction. A read-only one reads at the instant of its first read and takes no lock. A real read-write transaction
 * locks the documents that it reads. Here, its commit is aborted if one of them has changed, which callers cannot tell apart.
 */
export class Transaction extends Writes {
  readonly #firestore: Firestore;
  readonly #readOnly: boolean;
  #first: Promise<Micros> | undefined;
  readonly #read: Version[] = [];

  constructor(firestore: Firestore, { readOnly = false, readTime }: TransactionOptions) {
    super();
    this.#firestore = firestore;
    this.#readOnly = readOnly;
    if (readTime) this.#first = Promise.resolve(readTime.toMicros());
  }

  async get<Snapshot>(readable: Readable<Snapshot>): Promise<Snapshot> {
    const { connection } = this.#firestore;
    const known = this.#first;
    const at = known && (await known);
    const reading = connection.call(readable.what, () => {
      const time = this.#readOnly && at !== undefined ? at : connection.readTime();
      const snapshot = readable.read(time);
      if (!this.#readOnly) this.#note(snapshot);
      return { snapshot, time };
    });
    if (!known) {
      this.#first = reading.then(({ time }) => time);
      // Later reads get the error, too. Without a later read it needs no handler.
      this.#first.catch(() => undefined);
    }
    return (await reading).snapshot;
  }

  async getAll(...refs: DocumentReference[]): Promise<DocumentSnapshot[]> {
    const what = refs.map((ref) => ref.what).join(", ");
    const read = (at: Micros) => refs.map((ref) => ref.read(at));
    return await this.get({ firestore: this.#firestore, what, read });
  }

  async commit(): Promise<void> {
    const { connection } = this.#firestore;
    if (this.#readOnly) return;
    connection.observeTransaction(this.#read.map(({ path }) => path));
    await connection.call(
      describe(this.writes),
      () => {
        for (const { path, updateTime, fields } of this.#read) {
          const now = connection.database.get(path);
          if (now.updateTime !== updateTime && (now.fields ?? fields)) throw new Refused(Code.ABORTED, path);
        }
        connection.commit(this.writes);
      },
      "commit",
    );
  }

  #note(snapshot: unknown): void {
    const { database } = this.#firestore.connection;
    for (const path of pathsOf(snapshot)) this.#read.push(database.get(path));
  }
}

function pathsOf(snapshot: unknown): readonly string[] {
  if (snapshot instanceof DocumentSnapshot) return [snapshot.ref.path];
  if (snapshot instanceof QuerySnapshot) return snapshot.docs.map(({ ref }) => ref.path);
  return snapshot instanceof AggregateQuerySnapshot ? snapshot.versions.map(({ path }) => path) : [];
}

export class Firestore {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  collection(path: string): CollectionReference {
    return new CollectionReference(this, path);
  }
  collectionGroup(id: string): Query {
    return new Query(this, { collection: id, group: true, filters: [] });
  }
  doc(path: string): DocumentReference {
    return new DocumentReference(this, path);
  }
  batch(): WriteBatch {
    return new WriteBatch(this);
  }
  bulkWriter(): BulkWriter {
    return new BulkWriter(this);
  }
  newId(): string {
    const { random } = this.connection.process;
    return Array.from({ length: 4 }, () =>
      random
        .integer(0, 36 ** 5 - 1)
        .toString(36)
        .padStart(5, "0"),
    ).join("");
  }
  async getAll(...args: (DocumentReference | { fieldMask?: string[] })[]): Promise<DocumentSnapshot[]> {
    const refs = args.filter((arg) => arg instanceof DocumentReference);
    const what = refs.map((ref) => ref.what).join(", ");
    return await this.connection.call(what, () => {
      const at = this.connection.readTime();
      return refs.map((ref) => ref.read(at));
    });
  }
  async runTransaction<T>(
    update: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const transaction = new Transaction(this, planted.transaction?.(options, this.connection.process) ?? options);
      const result = await update(transaction);
      try {
        await transaction.commit();
        return result;
      } catch (error) {
        if ((error as Refused).code !== Code.ABORTED || attempt === ATTEMPTS) throw error;
      }
    }
  }
  read<Snapshot>(readable: Readable<Snapshot>): Promise<Snapshot> {
    const { connection } = this;
    return connection.call(readable.what, () => readable.read(connection.readTime()));
  }
}

/** Instances get their connections from the simulation. */
export function getFirestore(): never {
  throw new Error("is not simulated");
}
