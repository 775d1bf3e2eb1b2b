/** The rules that an app has for Google's counter. */
import { LEGACY_SHARDS } from "../../testkit/legacy/sums.ts";
import { loadRules, OPEN_RULES } from "../../testkit/rules.ts";

/** Lets clients read the documents of a collection, and write any amount to their legacy shards. @returns the way back */
export async function openLegacyShards(collection: string): Promise<() => Promise<void>> {
  const project = process.env.GCLOUD_PROJECT as string;
  const rules = OPEN_RULES;
  const open = `match /${collection}/{document} {
      allow read;
      match /${LEGACY_SHARDS}/{shard} { allow get, write; }
    }`;
  await loadRules(project, rules.replace(/(match \/databases\/\{\w+\}\/documents \{)/, `$1\n${open}`));
  return () => loadRules(project, rules);
}
