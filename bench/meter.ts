/**
 * A gRPC proxy in front of the Firestore emulator that counts what Firestore would bill: documents read, written and
 * deleted. It sees the wire, so it counts for any SDK, and nothing in the code under test knows of it.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  credentials,
  Client as GrpcClient,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type StatusObject,
} from "@grpc/grpc-js";

// The messages as the SDK itself decodes them; the package exports them to nobody but its own modules.
const require = createRequire(import.meta.url);
const { google } = require(
  join(dirname(require.resolve("@google-cloud/firestore")), "../protos/firestore_v1_proto_api.js"),
);
const v1 = google.firestore.v1;

/** Document operations, as billed (https://firebase.google.com/docs/firestore/pricing). */
export interface Usage {
  reads: number;
  writes: number;
  deletes: number;
}

export interface Meter {
  /** `host:port` to connect to instead of the emulator. */
  readonly address: string;
  /** What has been used since the meter started. */
  readonly usage: Readonly<Usage>;
  /** How often each method was called, and calls that hold locks (`transaction`): a read-write transaction. */
  readonly calls: ReadonlyMap<string, number>;
  close(): void;
}

interface Write {
  delete?: string | null;
}

/** Calls of `google.firestore.v1.Firestore` that the SDKs make. */
const METHODS = [
  "BatchGetDocuments",
  "BatchWrite",
  "BeginTransaction",
  "Commit",
  "GetDocument",
  "ListCollectionIds",
  "ListDocuments",
  "Listen",
  "Rollback",
  "RunAggregationQuery",
  "RunQuery",
  "Write",
] as const;

/** Starts a meter in front of the emulator at `target` (`host:port`). */
export async function startMeter(target: string): Promise<Meter> {
  const usage: Usage = { reads: 0, writes: 0, deletes: 0 };
  const calls = new Map<string, number>();
  const count = (call: string) => calls.set(call, (calls.get(call) ?? 0) + 1);
  const upstream = new GrpcClient(target, credentials.createInsecure());
  const server = new Server();
  const raw = (message: Buffer) => message;

  for (const method of METHODS) {
    const path = `/google.firestore.v1.Firestore/${method}`;
    const pass = (call: ServerDuplexStream<Buffer, Buffer>) => {
      count(method);
      const observe = observer(method, usage, () => count("transaction"));
      const forward = upstream.makeBidiStreamRequest(path, raw, raw, call.metadata);
      call.on("data", (message: Buffer) => {
        observe.request(message);
        forward.write(message);
      });
      call.on("end", () => forward.end());
      call.on("cancelled", () => forward.cancel());
      forward.on("metadata", (metadata: Metadata) => call.sendMetadata(metadata));
      forward.on("data", (message: Buffer) => {
        observe.response(message);
        call.write(message);
      });
      forward.on("error", () => undefined);
      forward.on("status", (status: StatusObject) => {
        observe.end();
        if (status.code === 0) call.end(status.metadata);
        else call.emit("error", status);
      });
    };
    server.register(path, pass, raw, raw, "bidi");
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return {
    address: `127.0.0.1:${port}`,
    usage,
    calls,
    close() {
      server.forceShutdown();
      upstream.close();
    },
  };
}

/** Counts the messages of one call. Writes count when the server confirms them. */
function observer(method: (typeof METHODS)[number], usage: Usage, onTransaction: () => void) {
  const unconfirmed: Write[][] = [];
  let found = 0;
  const confirm = () => {
    for (const write of unconfirmed.shift() ?? []) usage[write.delete ? "deletes" : "writes"]++;
  };
  return {
    request(message: Buffer) {
      if (method === "Commit") {
        const { writes, transaction } = v1.CommitRequest.decode(message);
        unconfirmed.push(writes);
        if (transaction?.length > 0) onTransaction();
      }
      if (method === "Write") {
        const { writes } = v1.WriteRequest.decode(message);
        if (writes.length > 0) unconfirmed.push(writes);
      }
      if (method === "BeginTransaction" && !v1.BeginTransactionRequest.decode(message).options?.readOnly)
        onTransaction();
      if (method === "RunQuery" && v1.RunQueryRequest.decode(message).newTransaction?.readWrite) onTransaction();
      if (method === "RunAggregationQuery" && v1.RunAggregationQueryRequest.decode(message).newTransaction?.readWrite) {
        onTransaction();
      }
      if (method === "BatchGetDocuments" && v1.BatchGetDocumentsRequest.decode(message).newTransaction?.readWrite) {
        onTransaction();
      }
    },
    response(message: Buffer) {
      if (method === "Commit") confirm();
      if (method === "Write" && v1.WriteResponse.decode(message).writeResults.length > 0) confirm();
      if (method === "BatchGetDocuments") {
        const { found: document, missing } = v1.BatchGetDocumentsResponse.decode(message);
        if (document || missing) usage.reads++;
      }
      if (method === "RunQuery" && v1.RunQueryResponse.decode(message).document) found++;
      if (method === "RunAggregationQuery") {
        const { result } = v1.RunAggregationQueryResponse.decode(message);
        // A count is all that is ever asked for.
        for (const { integerValue } of Object.values<{ integerValue: number }>(result?.aggregateFields ?? {})) {
          usage.reads += Math.max(Math.ceil(Number(integerValue) / 1_000), 1);
        }
      }
      if (method === "Listen") {
        const { documentChange, documentDelete } = v1.ListenResponse.decode(message);
        if (documentChange || documentDelete) usage.reads++;
      }
    },
    /** A query costs a read even if it finds nothing. */
    end() {
      if (method === "RunQuery") usage.reads += Math.max(found, 1);
    },
  };
}
