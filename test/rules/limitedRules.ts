/**
 * The rules with edits of an app that uses rate limits, and opens the groups `claps` and `tickets`. The default rules have no limit, so no test of them alone
 * would evaluate `isWithinLimit`.
 */

/**
 * @param policy   the condition of `isAllowedRate()`
 * @param matches  blocks for documents of the app
 */
export function withLimits(rules: string, policy: string, matches: string): string {
  const edited = rules
    .replace(/(function isAllowedRate\(\) \{\n +return) true;/, `$1 ${policy};`)
    .replace("return limit in [];", `return ${limitsIn(policy + matches)};`)
    .replace("return counterGroup() in ['views'];", "return counterGroup() in ['views', 'claps', 'tickets'];")
    .replace(/(?=^ {4}match \/counters)/m, `    ${matches}\n\n`);
  if (!edited.includes(policy) || !edited.includes(matches))
    throw new Error("firestore.rules has no place for a limit");
  return edited;
}

/** The condition that the limits of these calls exist; `true` if one has its name from a variable. */
function limitsIn(calls: string): string {
  const names = [...calls.matchAll(/isWithinLimit\(('\w+')?/g)].map(([, name]) => name);
  return names.includes(undefined) ? "true" : `limit in [${names}]`;
}

/** Limits of two uses a minute, and of one in the milliseconds that the id of a diary names. */
export const LIMITED = {
  policy: "!(counter in ['claps:talk', 'votes:limited']) || isWithinLimit('claps', 2, 60000, 2)",
  matches: `match /notes/{note} { allow create, update, delete: if isWithinLimit('notes', 2, 60000, 2); }
    match /diaries/{per} { allow create: if isWithinLimit('diaries', 1, int(per), 1); }`,
};
