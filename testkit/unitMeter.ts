/**
 * Counts the units that Firestore's Enterprise edition would bill for what passes a proxy (costs/src/units.ts), beside `meter.ts`, which
 * counts operations. Writes are exact, if all writes of their documents pass. An aggregation scans its whole collection, as it does
 * without an index. A query is charged for the documents that it returns, which is less than it scans if it has a filter or a limit.
 */
import { readUnits, writeUnits } from "../costs/src/index.ts";
import type { Message, Method } from "./firestoreMessages.ts";
import { FollowedDocuments, type ProtocolDocument, type ProtocolWrite, receivedBytes } from "./followedDocuments.ts";
import type { Inspection, Inspector } from "./grpcProxy.ts";

export interface Units {
  readUnit: number;
  writeUnit: number;
  realtimeUnit: number;
}

export interface UnitMeter {
  /** Since the meter was created. */
  readonly units: Readonly<Units>;
  readonly inspection: Inspection;
}

/** @param documents  shared with the meters of other connections to the same database */
export function unitMeter(documents = new FollowedDocuments()): UnitMeter {
  const units: Units = { readUnit: 0, writeUnit: 0, realtimeUnit: 0 };
  return { units, inspection: (method) => inspector(method, units, documents) };
}

interface Request {
  readonly writes: readonly ProtocolWrite[];
  readonly parent?: string;
  readonly structuredAggregationQuery?: {
    readonly structuredQuery?: { readonly from?: readonly { readonly collectionId: string }[] };
  };
}
interface Response {
  readonly writeResults: readonly unknown[];
  readonly found?: ProtocolDocument | null;
  readonly missing?: string | null;
  readonly document?: ProtocolDocument | null;
  readonly result?: unknown;
  readonly targetChange?: { readonly targetChangeType: string | number; readonly targetIds: readonly number[] };
  readonly documentChange?: { readonly document: ProtocolDocument; readonly targetIds: readonly number[] };
}

/** Of the `oneof` in a `ListenResponse`, by field number. */
const [TARGET_CHANGE, DOCUMENT_CHANGE, DOCUMENT_DELETE] = [2, 3, 4];
/** Of a target change: its listener has all documents, and what comes from then on are updates. Number or name, as decoded. */
const CURRENT: readonly unknown[] = [3, "CURRENT"];
const RESET: readonly unknown[] = [4, "RESET"];

function inspector(method: Method, units: Units, documents: FollowedDocuments): Inspector {
  const unconfirmed: (readonly ProtocolWrite[])[] = [];
  const current = new Set<number>();
  let returned = 0;
  let aggregated = "";
  const confirm = () => {
    for (const write of unconfirmed.shift() ?? []) units.writeUnit += writeUnits(documents.apply(write));
  };
  /** A query may have asked for some fields alone, but reads the whole document. */
  const scannedBytes = (document: ProtocolDocument) =>
    Math.max(documents.bytesOf(document.name) ?? 0, receivedBytes(document));

  function listened(message: Message): void {
    const kind = (message.raw[0] ?? 0) >> 3;
    if (kind === TARGET_CHANGE) {
      const { targetChangeType: type, targetIds } = message.as<Response>().targetChange ?? { targetIds: [] };
      for (const id of targetIds) {
        if (CURRENT.includes(type)) current.add(id);
        if (RESET.includes(type)) current.delete(id);
      }
    }
    if (kind === DOCUMENT_CHANGE) {
      const { document, targetIds } = message.as<Response>().documentChange ?? { targetIds: [] };
      const bytes = document ? receivedBytes(document) : 0;
      units[targetIds.every((id) => current.has(id)) ? "realtimeUnit" : "readUnit"] += readUnits(bytes);
    }
    // Not decoded: for a deleted document the emulator sends fields that the SDK's types lack. A first answer is of a missing one.
    if (kind === DOCUMENT_DELETE) units[current.size > 0 ? "realtimeUnit" : "readUnit"]++;
  }

  return {
    request(message: Message) {
      if (method === "Commit" || method === "Write") {
        const { writes } = message.as<Request>();
        if (method === "Commit" || writes.length > 0) unconfirmed.push(writes);
      }
      if (method === "RunAggregationQuery") {
        const { parent, structuredAggregationQuery } = message.as<Request>();
        aggregated = `${parent}/${structuredAggregationQuery?.structuredQuery?.from?.[0]?.collectionId}`;
      }
    },
    response(message: Message) {
      if (method === "Commit") confirm();
      if (method === "Write" && message.as<Response>().writeResults.length > 0) confirm();
      if (method === "BatchGetDocuments") {
        const { found, missing } = message.as<Response>();
        if (found || missing) units.readUnit += readUnits(found ? receivedBytes(found) : 0);
      }
      if (method === "RunQuery") {
        const { document } = message.as<Response>();
        if (document) returned += scannedBytes(document);
      }
      if (method === "RunAggregationQuery" && message.as<Response>().result) {
        units.readUnit += readUnits(documents.bytesIn(aggregated));
      }
      if (method === "Listen") listened(message);
    },
    end() {
      if (method === "RunQuery") units.readUnit += readUnits(returned);
    },
  };
}
