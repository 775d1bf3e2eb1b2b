/**
 * Lists the shards of a counter. Apps never need to: the total is one document for any number of shards.
 *
 * Uses REST, whose field mask leaves out `marks`, most of a shard's bytes.
 */
import type { Connection } from "../firebase/connection.ts";
import { currentToken } from "../firebase/visitor.ts";

export interface Shard {
  readonly id: string;
  readonly writes: number;
}

export interface ShardListing {
  readonly shards: readonly Shard[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.documents/list */
interface Page {
  readonly documents?: readonly {
    readonly name: string;
    readonly fields?: { readonly writes?: { readonly integerValue?: string } };
  }[];
  readonly nextPageToken?: string;
}

const PAGE_SIZE = 300;

/** Cost: 1 read per shard. @throws Error if the rules deny it, or there is no connection */
export async function listShards(connection: Connection, id: string): Promise<ShardListing> {
  const { firestore, options } = connection.setup;
  const token = await currentToken(connection);
  const headers: HeadersInit = token ? { authorization: `Bearer ${token}` } : {};
  const origin = firestore ? `http://${firestore.host}:${firestore.port}` : "https://firestore.googleapis.com";
  const documents = `${origin}/v1/projects/${options.projectId}/databases/(default)/documents`;
  const shards: Shard[] = [];
  let pageToken = "";
  do {
    const query = new URLSearchParams({
      "mask.fieldPaths": "writes",
      pageSize: String(PAGE_SIZE),
      key: options.apiKey ?? "",
      ...(pageToken && { pageToken }),
    });
    const response = await fetch(`${documents}/counters/${encodeURIComponent(id)}/shards?${query}`, { headers });
    if (!response.ok) throw new Error(`The shards of ${id} could not be read: ${response.status}`);
    const page: Page = await response.json();
    for (const { name, fields } of page.documents ?? []) {
      const writes = Number(fields?.writes?.integerValue ?? 0);
      shards.push({ id: name.slice(name.lastIndexOf("/") + 1), writes });
    }
    pageToken = page.nextPageToken ?? "";
  } while (pageToken);
  return { shards, at: Date.now() };
}
