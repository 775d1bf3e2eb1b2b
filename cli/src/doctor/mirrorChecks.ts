/** Whether the documents that mirror totals show them. */
import { groupOf } from "../../../core/src/index.ts";
import { shellQuote } from "../escape.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import { type Finding, listed, warningFinding } from "./finding.ts";

export function checkMirrors({ mirrors }: ProjectFacts): Finding[] {
  const differing = (seen(mirrors) ?? []).filter(({ shown, total }) => shown !== total);
  if (differing.length === 0) return [];
  const names = differing.map(
    (one) => `${one.field} of ${one.document} (${describe(one.shown)} instead of ${describe(one.total)})`,
  );
  return [
    warningFinding(
      "mirror-differs",
      `${listed(names)} ${differing.length === 1 ? "does" : "do"} not show the total: the document was made later, or written by hand, or cannot hold it`,
      `run \`npx firestore-tally publish ${selected(differing.map(({ counter }) => counter))}\`; if the finding stays, the log of the functions says why`,
    ),
  ];
}

/** A number, or what is in its place: an app's documents are not printed. */
function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "number" ? String(value) : `a ${value === null ? "null" : typeof value}`;
}

/** The arguments of a command: of more than three counters the group of the first, since others probably differ, too. */
function selected(ids: readonly string[]): string {
  const [first = ""] = ids;
  if (ids.length <= 3)
    return ["--", ...ids]
      .slice(ids.some((id) => id.startsWith("-")) ? 0 : 1)
      .map(shellQuote)
      .join(" ");
  return first.includes(":") ? `--group ${shellQuote(groupOf(first))}` : "--ungrouped";
}
