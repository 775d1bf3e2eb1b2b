/**
 * Counts the operations that Firestore would bill: documents read, written and deleted, as they pass a proxy. A write counts when
 * the server confirms it, so a refused or repeated write costs what it costs in production.
 */

import type { Message, Method, WriteMessage } from "./firestoreMessages.ts";
import { type Inspection, type Inspector, startProxy } from "./grpcProxy.ts";
import { aggregationReads } from "./production/aggregations.ts";

/** Document operations, as billed (https://firebase.google.com/docs/firestore/pricing). */
export interface Usage {
  reads: number;
  writes: number;
  deletes: number;
}

export interface MeterReading {
  /** Operations since the meter was created. */
  readonly usage: Readonly<Usage>;
  /** Calls by method, and as `transaction` those that hold locks: read-write transactions. */
  readonly calls: ReadonlyMap<string, number>;
}

/** A meter with a proxy of its own. */
export interface Meter extends MeterReading {
  /** `host:port` to connect to instead of the emulator. */
  readonly address: string;
  close(): void;
}

/** Starts a meter in front of the emulator at `target` (`host:port`). */
export async function startMeter(target: string): Promise<Meter> {
  const { reading, inspection } = meter();
  return { ...reading, ...(await startProxy(target, [inspection])) };
}

/** A meter for one or several proxies. */
export function meter(): { reading: MeterReading; inspection: Inspection } {
  const usage: Usage = { reads: 0, writes: 0, deletes: 0 };
  const calls = new Map<string, number>();
  const count = (call: string) => calls.set(call, (calls.get(call) ?? 0) + 1);
  return {
    reading: { usage, calls },
    inspection(method) {
      count(method);
      return inspector(method, usage, () => count("transaction"));
    },
  };
}

/** The fields that the meter reads; each message has some of them. */
interface Request {
  readonly writes: readonly WriteMessage[];
  readonly transaction?: Uint8Array;
  readonly newTransaction?: { readonly readWrite?: unknown };
  readonly options?: { readonly readOnly?: unknown };
  readonly structuredAggregationQuery?: { readonly aggregations: readonly Aggregation[] };
}
interface Aggregation {
  readonly alias: string;
  readonly count?: unknown;
}
interface Response {
  readonly writeResults: readonly unknown[];
  readonly found?: unknown;
  readonly missing?: unknown;
  readonly document?: unknown;
  readonly done?: boolean;
  readonly result?: { readonly aggregateFields?: Record<string, { readonly integerValue: number }> };
}

/** Of the `oneof` in a `ListenResponse`, by field number: `document_change` and `document_delete`. */
const CHARGED_CHANGES = [3, 4];

const MAY_BEGIN_TRANSACTION: readonly Method[] = ["BatchGetDocuments", "RunAggregationQuery", "RunQuery"];

/** Counts the operations of one call. */
function inspector(method: Method, usage: Usage, onTransaction: () => void): Inspector {
  const unconfirmed: (readonly WriteMessage[])[] = [];
  const counts = new Set<string>();
  let isCharged = false;
  /** A query costs a read even if it finds nothing. */
  const chargeOnce = () => {
    if (!isCharged) usage.reads++;
    isCharged = true;
  };
  const confirm = () => {
    for (const write of unconfirmed.shift() ?? []) usage[write.delete ? "deletes" : "writes"]++;
  };
  return {
    request(message: Message) {
      if (method === "Commit") {
        const { writes, transaction } = message.as<Request>();
        unconfirmed.push(writes);
        if (transaction && transaction.length > 0) onTransaction();
      }
      if (method === "Write") {
        const { writes } = message.as<Request>();
        if (writes.length > 0) unconfirmed.push(writes);
      }
      if (method === "BeginTransaction" && !message.as<Request>().options?.readOnly) onTransaction();
      if (method === "RunAggregationQuery") {
        const { aggregations = [] } = message.as<Request>().structuredAggregationQuery ?? {};
        for (const { alias, count } of aggregations) if (count) counts.add(alias);
      }
      if (MAY_BEGIN_TRANSACTION.includes(method) && message.as<Request>().newTransaction?.readWrite) onTransaction();
    },
    response(message: Message) {
      if (method === "Commit") confirm();
      if (method === "Write" && message.as<Response>().writeResults.length > 0) confirm();
      if (method === "BatchGetDocuments") {
        const { found: document, missing } = message.as<Response>();
        if (document || missing) usage.reads++;
      }
      if (method === "RunQuery") {
        // With the last message the SDK has its answer, a moment before the call ends.
        const { document, done } = message.as<Response>();
        if (document && isCharged) usage.reads++;
        else if (document || done) chargeOnce();
      }
      if (method === "RunAggregationQuery") {
        const { result } = message.as<Response>();
        if (result) usage.reads += readsOf(result.aggregateFields ?? {}, counts);
      }
      if (method === "Listen") {
        // Not decoded: for a deleted document the emulator sends fields that the SDK's types lack.
        if (CHARGED_CHANGES.includes((message.raw[0] ?? 0) >> 3)) usage.reads++;
      }
    },
    end() {
      if (method === "RunQuery") chargeOnce();
    },
  };
}

/**
 * What an aggregation query costs, with its sums. Only a count tells how many index entries it matched; a query without one is
 * charged as if it matched few.
 */
function readsOf(
  fields: Readonly<Record<string, { readonly integerValue: number }>>,
  counts: ReadonlySet<string>,
): number {
  const matched = [...counts].map((alias) => Number(fields[alias]?.integerValue ?? 0));
  return aggregationReads(Math.max(...matched, 0));
}
