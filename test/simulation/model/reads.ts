/** Of what stands for `firebase-admin/firestore`, the reading: snapshots, queries and aggregations, at an instant. */
import type { DocumentReference, Firestore } from "./adminSdk.ts";
import { type Filter, fieldOf, type QueryPlan, type Version } from "./database.ts";
import { type Fields, type Micros, Timestamp, type Value } from "./values.ts";

export class DocumentSnapshot {
  readonly ref: DocumentReference;
  readonly readTime: Timestamp;
  readonly #version: Version;

  constructor(ref: DocumentReference, version: Version, readTime: Micros) {
    this.ref = ref;
    this.#version = version;
    this.readTime = Timestamp.fromMicros(readTime);
  }

  get id() {
    return this.ref.id;
  }
  get exists() {
    return this.#version.fields !== undefined;
  }
  get updateTime() {
    return this.exists ? Timestamp.fromMicros(this.#version.updateTime) : undefined;
  }
  data(): Fields | undefined {
    return this.#version.fields;
  }
  get(field: string): Value | undefined {
    return fieldOf(this.#version.fields, field);
  }
}

export class QuerySnapshot {
  readonly docs: readonly DocumentSnapshot[];
  readonly readTime: Timestamp;

  constructor(docs: readonly DocumentSnapshot[], readTime: Micros) {
    this.docs = docs;
    this.readTime = Timestamp.fromMicros(readTime);
  }

  get empty() {
    return this.docs.length === 0;
  }
  get size() {
    return this.docs.length;
  }
}

/** Something that can be read, now or at an instant. */
export interface Readable<Snapshot> {
  readonly firestore: Firestore;
  readonly what: string;
  read(at: Micros): Snapshot;
}

export class Query implements Readable<QuerySnapshot> {
  readonly firestore: Firestore;
  readonly plan: QueryPlan;
  readonly #fields: readonly string[] | undefined;

  constructor(firestore: Firestore, plan: QueryPlan, fields?: readonly string[]) {
    this.firestore = firestore;
    this.plan = plan;
    this.#fields = fields;
  }

  get what() {
    return `query ${this.plan.collection}`;
  }
  where(field: string, op: Filter["op"], value: Value): Query {
    return this.#with({ filters: [...this.plan.filters, { field, op, value }] });
  }
  /** Documents come in the order of their names anyway, or of the field that is compared. There is no other. */
  orderBy(field: string): Query {
    const compared = this.plan.filters.find(({ op }) => op !== "==")?.field ?? "__name__";
    if (field !== compared) throw new Error(`the model does not order by ${field}`);
    return this;
  }
  limit(limit: number): Query {
    return this.#with({ limit });
  }
  startAfter(document: DocumentSnapshot): Query {
    return this.#with({ after: document.ref.path });
  }
  select(...fields: string[]): Query {
    return new Query(this.firestore, this.plan, fields);
  }
  count(): AggregateQuery {
    return this.aggregate({ count: AggregateField.count() });
  }
  aggregate(fields: Record<string, AggregateField>): AggregateQuery {
    return new AggregateQuery(this, fields);
  }
  read(at: Micros): QuerySnapshot {
    const { connection } = this.firestore;
    const versions = connection.database.query(this.plan, connection.seenAt(at));
    connection.bill(Math.max(versions.length, 1));
    return new QuerySnapshot(
      versions.map((version) => {
        return new DocumentSnapshot(this.firestore.doc(version.path), masked(version, this.#fields), at);
      }),
      at,
    );
  }
  get(): Promise<QuerySnapshot> {
    return this.firestore.read(this);
  }
  #with(change: Partial<QueryPlan>): Query {
    return new Query(this.firestore, { ...this.plan, ...change }, this.#fields);
  }
}

/** A version with some of its fields alone. */
function masked(version: Version, fields: readonly string[] | undefined): Version {
  if (!fields || !version.fields) return version;
  const some = Object.entries(version.fields).filter(([field]) => fields.includes(field));
  return { ...version, fields: Object.fromEntries(some) };
}

export class AggregateField {
  readonly summed: string | undefined;
  constructor(summed?: string) {
    this.summed = summed;
  }
  static count() {
    return new AggregateField();
  }
  static sum(field: string) {
    return new AggregateField(field);
  }
}

export class AggregateQuerySnapshot {
  readonly readTime: Timestamp;
  readonly #data: Record<string, number>;

  constructor(data: Record<string, number>, readTime: Micros) {
    this.#data = data;
    this.readTime = Timestamp.fromMicros(readTime);
  }
  data() {
    return this.#data;
  }
}

export class AggregateQuery implements Readable<AggregateQuerySnapshot> {
  readonly firestore: Firestore;
  readonly #query: Query;
  readonly #fields: Record<string, AggregateField>;

  constructor(query: Query, fields: Record<string, AggregateField>) {
    this.firestore = query.firestore;
    this.#query = query;
    this.#fields = fields;
  }

  get what() {
    return `aggregate ${this.#query.plan.collection}`;
  }
  read(at: Micros): AggregateQuerySnapshot {
    const { connection } = this.firestore;
    const versions = connection.database.query(this.#query.plan, connection.seenAt(at));
    connection.bill(Math.max(Math.ceil(versions.length / 1_000), 1));
    const data: Record<string, number> = {};
    for (const [name, { summed }] of Object.entries(this.#fields)) {
      data[name] = versions.reduce((sum, { fields }) => {
        const value = summed === undefined ? 1 : fieldOf(fields, summed);
        return sum + (typeof value === "number" ? value : 0);
      }, 0);
    }
    return new AggregateQuerySnapshot(data, at);
  }
  get(): Promise<AggregateQuerySnapshot> {
    return this.firestore.read(this);
  }
}
