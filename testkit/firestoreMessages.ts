/**
 * Firestore's gRPC messages between an SDK and the emulator. A message is decoded when its content is first asked for; most pass
 * as bytes.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// The SDK's own definitions, which its package does not export.
const require = createRequire(import.meta.url);
const { google } = require(
  join(dirname(require.resolve("@google-cloud/firestore")), "../protos/firestore_v1_proto_api.js"),
);
const v1 = google.firestore.v1;

/** Calls of `google.firestore.v1.Firestore` that the SDKs make. */
export const METHODS = [
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
export type Method = (typeof METHODS)[number];

export function pathOf(method: Method): string {
  return `/google.firestore.v1.Firestore/${method}`;
}

/** One write of a commit (https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#write). */
export interface WriteMessage {
  readonly update?: { readonly name: string } | null;
  readonly delete?: string | null;
}

/** One message in one direction. */
export class Message {
  raw: Buffer;
  readonly #type: string;
  #content: unknown;

  constructor(raw: Buffer, method: Method, direction: "Request" | "Response") {
    this.raw = raw;
    this.#type = `${method}${direction}`;
  }

  /** The decoded message. The caller knows its type from the method and the direction. */
  as<Content>(): Content {
    this.#content ??= v1[this.#type].decode(this.raw);
    return this.#content as Content;
  }

  /** Replaces the content: the message is passed on with the new one. */
  rewrite(content: object): void {
    this.#content = content;
    this.raw = Buffer.from(v1[this.#type].encode(content).finish());
  }
}
