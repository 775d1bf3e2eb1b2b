/**
 * Finds words in comments, documents, strings and names that make a reader stop: `npm run check` fails on them. The list is short
 * on purpose; CONTRIBUTING.md has the rules behind it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** What to avoid, and what to write instead. Only whole words count, in any case. */
export const AVOIDED: Readonly<Record<string, string>> = {
  whoever: 'name the component: "any client that …"',
  whomever: 'name the component: "any client that …"',
  nobody: 'name the component: "no client", "no function"; in an error: "no answer from …"',
  somebody: 'name the component: "a client", "another user"',
  anybody: 'name the component: "any client"',
  everybody: 'name the component: "every client", "all users"',
  "of it": 'its name: "its size", "the size of the document"',
  rivals: "alternatives",
  patience: "timeouts",
  consent: "confirm",
  compensation: "optimisticTotal",
  genesis: "initial state",
  gestures: "operations",
  woken: "triggered",
  lab: "backend, fixture",
};

/** Between two words may be the end of a line and the start of a comment's next one. */
const GAP = String.raw`\s+(?:(?:\*|//|#|>)\s+)?`;
const PATTERN = new RegExp(`\\b(${Object.keys(AVOIDED).join("|").replaceAll(" ", GAP)})\\b`, "gi");

/** Generated, recorded, or the text of a licence; and this list. */
const EXEMPT = [
  /(^|\/)(package-lock|npm-shrinkwrap)\.json$/,
  /^LICENSE$/,
  /^docs\/charts\//,
  /^bench\/results\//,
  /^client\/api\//,
  /^scripts\/prose\.(test\.)?ts$/,
  /\.(png|svg|webp)$/,
];

export interface Finding {
  readonly line: number;
  readonly word: string;
  readonly instead: string;
}

export function findAvoided(text: string): Finding[] {
  return [...text.matchAll(PATTERN)].map(({ 0: match, index }) => {
    const word = match.toLowerCase().replace(/\W+/g, " ");
    return { line: text.slice(0, index).split("\n").length, word, instead: AVOIDED[word] ?? "" };
  });
}

if (import.meta.main) {
  const files = execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n");
  const lines = files
    .filter((file) => existsSync(file) && !EXEMPT.some((exempt) => exempt.test(file)))
    .flatMap((file) =>
      findAvoided(readFileSync(file, "utf8")).map(
        ({ line, word, instead }) => `${file}:${line}: "${word}"; write ${instead}`,
      ),
    );
  for (const line of lines) console.error(line);
  if (lines.length > 0)
    console.error(`\n${lines.length} words that make a reader stop. See "Plain prose" in CONTRIBUTING.md.`);
  process.exitCode = lines.length > 0 ? 1 : 0;
}
