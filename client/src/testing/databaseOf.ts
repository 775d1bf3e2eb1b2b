/**
 * The database of a counter, as far as its SDK tells. The web SDK has both names in `toJSON()`. The server SDK has the project there, once it
 * is known, and the database in `databaseId`.
 */
export interface DatabaseOfCounter {
  readonly projectId?: string | undefined;
  readonly database?: string | undefined;
}

type WebOrServer = {
  readonly databaseId?: string;
  toJSON?(): { readonly databaseId?: DatabaseOfCounter; readonly projectId?: string };
};

export function databaseOf(firestore: WebOrServer | undefined): DatabaseOfCounter {
  const { databaseId, projectId } = firestore?.toJSON?.() ?? {};
  return databaseId ?? { projectId, database: firestore?.databaseId };
}
