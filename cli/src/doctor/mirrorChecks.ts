/** Whether the documents that mirror totals show them. */
import { type ProjectFacts, seen } from "./facts.ts";
import { type Finding, listed, warningFinding } from "./finding.ts";

export function checkMirrors({ mirrors }: ProjectFacts): Finding[] {
  const differing = (seen(mirrors) ?? []).filter(({ shown, total }) => shown !== total);
  if (differing.length === 0) return [];
  const shown = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value));
  const names = differing.map(
    (one) => `${one.field} of ${one.document} (${shown(one.shown)} instead of ${shown(one.total)})`,
  );
  return [
    warningFinding(
      "mirror-differs",
      `${listed(names)} ${differing.length === 1 ? "does" : "do"} not show the total: the document was made later, or written by hand, or cannot hold it`,
      `run \`npx firestore-tally publish ${listedIds(differing.map(({ counter }) => counter))}\`; if it stays, the log of the functions says why`,
    ),
  ];
}

function listedIds(ids: readonly string[]): string {
  return ids.slice(0, 3).join(" ");
}
