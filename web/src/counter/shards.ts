/**
 * Looks at the shards of a counter. Apps never need to: a total is one document, however many shards there are.
 *
 * By REST, because a field mask keeps `marks` off the wire, most of a shard's bytes.
 */
import type { Backend } from "../firebase/backend.ts";
import { tokenOf } from "../firebase/currentSession.ts";

export interface Shard {
  readonly id: string;
  readonly writes: number;
}

export interface Look {
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

/** Cost: 1 read per shard. @throws Error if it may not be read, or there is no connection */
export async function lookAtShards(backend: Backend, id: string): Promise<Look> {
  const { firestore, options } = backend.setup;
  const token = await tokenOf(backend);
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
