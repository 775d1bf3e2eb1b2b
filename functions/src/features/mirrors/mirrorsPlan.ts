/** A mirror shows each total in the commit that publishes it. */
import { assertSeparate, groupOf, type Mirror, mirrorTarget, parseMirrors } from "../../../../core/src/index.ts";
import type { FeaturePlan, Settings } from "../../shared/feature.ts";
import { assertOutside } from "../../shared/parameters.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    readonly mirrors: readonly Mirror[];
  }
}

/** What parameters that name fields of documents have in common. */
export const FIELDS = {
  default: "",
  pattern: "^([^=,]+=[^=,]+\\.[^=,]+(,[^=,]+=[^=,]+\\.[^=,]+)*)?$",
} as const;

export const mirrorsPlan = {
  name: "mirrors",
  tableRows: { "[totals in your documents](#mirrors)": "MIRRORS" },
  parameters: {
    MIRRORS: {
      ...FIELDS,
      label: "Mirrors",
      description:
        "Fields of your own documents to which totals are also written, by group: likes=posts/{name}.likes writes the total " +
        "of likes:42 to the field likes of posts/42. Separate several with commas.",
      accepted: "entries `group=path/{name}.field`, with commas",
      invalid: "Enter entries such as likes=posts/{name}.likes, with commas between them.",
    },
  },
  settings: (values, { collection }) => ({ mirrors: mirrorsOf("MIRRORS", values.text("MIRRORS"), collection) }),
  groupsThatNeedPublishes: ({ mirrors }) => mirrors.map(({ counters }) => groupOf(counters)),
  needsPublishes: ({ ref }, { mirrors }) => ref !== undefined && mirrorTarget(ref.id, mirrors) !== undefined,
} satisfies FeaturePlan<"mirrors">;

/**
 * Parses the fields that a parameter names.
 *
 * @param others  the fields that other parameters name
 * @throws CounterError `counter/invalid-config`
 */
export function mirrorsOf(
  name: "MIRRORS" | "BRIDGE",
  list: string,
  collection: Settings["collection"],
  others: readonly Mirror[] = [],
): readonly Mirror[] {
  const named = parseMirrors(list, name);
  for (const { document } of named) assertOutside(collection, name, document.split("/"));
  const all = [...others, ...named];
  assertSeparate(all, "MIRRORS and BRIDGE");
  return all;
}
