/** The reading part of the replaced `firebase-admin/firestore`: snapshots, queries and aggregations at an instant. */
import { aggregationReads } from "../../../testkit/production/aggregations.ts";
import { planted } from "../mutations/mutation.ts";
import type { DocumentReference, Firestore } from "./adminSdk.ts";
import {
  Code,
  type Filter,
  fieldOf,
  fieldOrName,
  NAME,
  ordersOf,
  type QueryPlan,
  Refused,
  type Version,
} from "./database.ts";
import type { Connection } from "./network.ts";
import { type Fields, type Micros, Timestamp, type Value } from "./values.ts";

export class DocumentSnapshot {
  readonly ref: DocumentReference;
  readonly readTime: Timestamp;
  /** Not in the SDK. */
  readonly version: Version;

  constructor(ref: DocumentReference, version: Version, readTime: Micros) {
    this.ref = ref;
    this.version = version;
    this.readTime = Timestamp.fromMicros(readTime);
  }

  get id() {
    return this.ref.id;
  }
  get exists() {
    return this.version.fields !== undefined;
  }
  get updateTime() {
    return this.exists ? Timestamp.fromMicros(this.version.updateTime) : undefined;
  }
  get createTime() {
    const { database } = this.ref.firestore.connection;
    return this.exists ? Timestamp.fromMicros(database.createdAt(this.version)) : undefined;
  }
  data(): Fields | undefined {
    return this.version.fields;
  }
  get(field: Field): Value | undefined {
    return fieldOf(this.version.fields, nameOf(field));
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

/** A document or query that can be read, now or at an instant. */
export interface Readable<Snapshot> {
  readonly firestore: Firestore;
  readonly what: string;
  read(at: Micros): Snapshot;
}

/** The path of a field as a list of names. */
export class FieldPath {
  readonly names: readonly string[];
  constructor(...names: string[]) {
    this.names = names;
  }
  static documentId(): FieldPath {
    return new FieldPath(NAME);
  }
}

type Field = string | FieldPath;

function nameOf(field: Field): string {
  return field instanceof FieldPath ? field.names.join(".") : field;
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
  where(field: Field, op: Filter["op"], value: Value | DocumentReference): Query {
    const filter = { field: nameOf(field), op, value: this.#comparable(nameOf(field), value) };
    return this.#with({ filters: [...this.plan.filters, filter] });
  }
  orderBy(field: Field, direction: "asc" | "desc" = "asc"): Query {
    const order = { field: nameOf(field), isDescending: direction === "desc" };
    return this.#with({ orders: [...(this.plan.orders ?? []), order] });
  }
  offset(offset: number): Query {
    return this.#with({ offset });
  }
  limit(limit: number): Query {
    return this.#with({ limit });
  }
  startAfter(...from: [DocumentSnapshot] | (Value | DocumentReference)[]): Query {
    const [first] = from;
    if (first instanceof DocumentSnapshot) {
      // With a snapshot, the SDK makes the whole order explicit.
      const orders = ordersOf(this.plan);
      return this.#with({ orders, after: orders.map(({ field }) => fieldOrName(first.version, field) as Value) });
    }
    const orders = this.plan.orders ?? [];
    const values = from as (Value | DocumentReference)[];
    return this.#with({ after: values.map((value, i) => this.#comparable(orders[i]?.field ?? NAME, value)) });
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
  read(now: Micros): QuerySnapshot {
    const { connection } = this.firestore;
    const { at, versions } = find(connection, this.plan, now);
    connection.bill(Math.max(versions.length + (this.plan.offset ?? 0), 1));
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
  /** The database compares document names as paths. */
  #comparable(field: string, value: Value | DocumentReference): Value {
    if (field !== NAME) return value as Value;
    if (typeof value !== "string") return (value as DocumentReference).path;
    return this.plan.group ? value : `${this.plan.collection}/${value}`;
  }
  #with(change: Partial<QueryPlan>): Query {
    return new Query(this.firestore, { ...this.plan, ...change }, this.#fields);
  }
}

/** The documents that a query finds, and the instant that it reads at. */
function find(connection: Connection, plan: QueryPlan, now: Micros) {
  const { database, process } = connection;
  const at = planted.readTime?.(now, plan, process) ?? now;
  const snapshot = connection.snapshotTime(at);
  const query = (asked = plan, time = snapshot) => database.query(asked, time);
  return { at, versions: planted.query?.(plan, query, process) ?? query() };
}

/** A version with only some of its fields. */
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
  /** The aggregated documents. Not in the SDK. */
  readonly versions: readonly Version[];

  constructor(data: Record<string, number>, readTime: Micros, versions: readonly Version[]) {
    this.#data = data;
    this.versions = versions;
    this.readTime = Timestamp.fromMicros(readTime);
  }
  data() {
    return this.#data;
  }
}

/**
 * Several aggregates of one query, at one instant. A sum reads an index over the summed fields and those of the order, so a
 * document that lacks one of them is in none of the aggregates
 * (https://firebase.google.com/docs/firestore/query-data/aggregation-queries). Cost: 1 read per started 1,000 entries.
 */
export class AggregateQuery implements Readable<AggregateQuerySnapshot> {
  readonly firestore: Firestore;
  readonly #plan: QueryPlan;
  readonly #fields: Record<string, AggregateField>;

  constructor(query: Query, fields: Record<string, AggregateField>) {
    this.firestore = query.firestore;
    const needs = Object.values(fields).flatMap(({ summed }) => summed ?? []);
    this.#plan = { ...query.plan, needs };
    this.#fields = fields;
  }

  get what() {
    return `aggregate ${this.#plan.collection}`;
  }
  read(now: Micros): AggregateQuerySnapshot {
    const { connection } = this.firestore;
    const { needs = [], orders = [] } = this.#plan;
    if (needs.length > 0 && orders.some(({ field }) => field === NAME)) {
      throw new Refused(Code.INVALID_ARGUMENT, `${this.what}: a sum cannot be ordered by names`);
    }
    const isIndexed = connection.network.index === "ready" || needs.length === 0;
    if (!isIndexed && orders.length > 0) {
      throw new Refused(Code.FAILED_PRECONDITION, `${this.what}: the query requires an index`);
    }
    const { at, versions } = find(connection, this.#plan, now);
    connection.bill(aggregationReads(versions.length));
    const data: Record<string, number> = {};
    for (const [name, { summed }] of Object.entries(this.#fields)) {
      data[name] = versions.reduce((sum, { fields }) => {
        const value = summed === undefined ? 1 : fieldOf(fields, summed);
        return sum + (typeof value === "number" ? value : 0);
      }, 0);
    }
    return new AggregateQuerySnapshot(data, at, versions);
  }
  get(): Promise<AggregateQuerySnapshot> {
    return this.firestore.read(this);
  }
}
