/** The composite indexes of leaderboards of today, this week and this month. Only a project that chooses windows has them. */
import { DEFAULT_COLLECTION, rankingFields, WINDOW_NAMES } from "../../core/src/index.ts";

/** As in `firestore.indexes.json`. */
interface WindowIndex {
  readonly collectionGroup: string;
  readonly queryScope: string;
  readonly fields: readonly { readonly fieldPath: string; readonly order: string }[];
}

/** Those that the functions' parameters ask for. Other regions add theirs. */
export function windowIndexes({ WINDOWS = "", REGIONS = "" }: Readonly<Record<string, string>>): WindowIndex[] {
  if (WINDOWS.trim() === "") return [];
  const scopes = REGIONS.trim() === "" ? [false] : [false, true];
  return scopes.flatMap((global) =>
    WINDOW_NAMES.map((window) => ({
      collectionGroup: DEFAULT_COLLECTION,
      queryScope: "COLLECTION",
      fields: [
        { fieldPath: "group", order: "ASCENDING" },
        ...rankingFields({ window, global }).map((fieldPath) => ({ fieldPath, order: "DESCENDING" })),
      ],
    })),
  );
}
