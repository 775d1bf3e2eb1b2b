/** A counter that counts a collection has no increments. */
import {
  type CountedCollection,
  countedCollectionOf,
  NO_COLLECTION,
  parseCountedCollection,
} from "../../../../core/src/index.ts";
import type { FeaturePlan } from "../../shared/feature.ts";
import { assertOutside } from "../../shared/parameters.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** The path of the counted collections, if any. */
    readonly collections: CountedCollection | undefined;
  }
}

export const collectionsPlan = {
  name: "collections",
  tableRows: { "[a counted collection](#counting-a-collection)": "COUNTED_COLLECTION" },
  parameters: {
    COUNTED_COLLECTION: {
      default: NO_COLLECTION,
      label: "Counted collection",
      description:
        "The path of a collection whose documents are counted, such as posts or posts/{post}/comments. " +
        `${NO_COLLECTION} counts nothing.`,
      accepted:
        "the path of a collection, with `{wildcards}` for documents; not below `COLLECTION`; " +
        `\`${NO_COLLECTION}\`: none`,
      pattern: "^[^/]+(/[^/]+/[^/]+)*$",
      invalid: "Enter the path of a collection, such as posts or posts/{post}/comments.",
    },
  },
  settings(values, { collection }) {
    const collections = parseCountedCollection(values.text("COUNTED_COLLECTION"));
    if (collections) assertOutside(collection, "COUNTED_COLLECTION", collections);
    return { collections };
  },
  // No trigger for updates: they do not change the count.
  functions: {
    documentcreated: {
      askedForBy: "COUNTED_COLLECTION",
      does: "Brings the count of a collection up to date after one of its documents was created.",
      without: "created documents of the counted collection are not counted",
      trigger: { on: "created", root: "COUNTED_COLLECTION", path: "{document}" },
    },
    documentdeleted: {
      askedForBy: "COUNTED_COLLECTION",
      does: "Brings the count of a collection up to date after one of its documents was deleted.",
      without: "deleted documents of the counted collection are still counted",
      trigger: { on: "deleted", root: "COUNTED_COLLECTION", path: "{document}" },
    },
  },
  needsPublishes: ({ ref }, { collections }) =>
    ref !== undefined && countedCollectionOf(ref.id, collections) !== undefined,
} satisfies FeaturePlan<"collections">;
