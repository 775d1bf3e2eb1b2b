/**
 * Where Tally's rules stand in an app's file: at the end of its `match /databases/{database}/documents { … }`.
 *
 * An app may have its matches with whole paths instead, or use a name for the wildcard that Tally's rules use for something else. Then
 * they stand at the end of `service cloud.firestore { … }`, in a block of documents of their own.
 */
import { listed } from "../../doctor/finding.ts";
import type { Declaration, Rules } from "../../rulesSyntax/declarations.ts";
import { lineAt, tokensOf } from "../../rulesSyntax/tokens.ts";
import { Refusal } from "./composed.ts";
import type { Block } from "./markers.ts";

export interface Place {
  /** The blocks around it, outermost first. */
  readonly around: readonly Declaration[];
  /** All functions that its rules see: those of the blocks around it, and those beside them. */
  readonly functions: readonly Declaration[];
  /** The name of the wildcard in the block of documents around it; `undefined` if Tally's rules need a block of their own. */
  readonly wildcard: string | undefined;
}

const DOCUMENTS = /^\/databases\/\{(\w+)\}\/documents$/;

/**
 * @param taken  names that the wildcard must not have
 * @throws Refusal if the file has no rules for Firestore
 */
export function placeIn({ declarations }: Rules, taken: ReadonlySet<string>): Place {
  const service = declarations.find(({ kind, name }) => kind === "service" && name === "cloud.firestore");
  if (!service) {
    throw new Refusal(
      "the file has no `service cloud.firestore { … }`: name the file with the rules of Firestore in firebase.json " +
        "(`firestore.rules`), or add that block to this one",
    );
  }
  for (const documents of service.children) {
    const wildcard = wildcardOf(documents, taken);
    if (wildcard) return placeAt([service, documents], declarations, wildcard);
  }
  return placeAt([service], declarations, undefined);
}

/**
 * The place of a block that is there.
 *
 * @throws Refusal if the block is not where `placeIn` would put one
 */
export function placeOf(block: Block, source: string, { declarations }: Rules, taken: ReadonlySet<string>): Place {
  const around: Declaration[] = [];
  const holds = ({ bodyStart, bodyEnd }: Declaration) => bodyStart <= block.start && block.end <= bodyEnd;
  for (let inside = declarations; ; ) {
    const next = inside.find(holds);
    if (!next) break;
    around.push(next);
    inside = next.children;
  }
  const [service, documents, deeper] = around;
  const wildcard = documents && wildcardOf(documents, taken);
  if (service?.name !== "cloud.firestore" || deeper || (documents && !wildcard)) {
    throw new Refusal(
      `Tally's rules (line ${lineAt(source, block.start)}) do not stand in \`match /databases/{database}/documents { … }\` of ` +
        "`service cloud.firestore { … }`, directly: move them there, with both markers",
    );
  }
  return placeAt(around, declarations, wildcard);
}

function placeAt(around: readonly Declaration[], all: readonly Declaration[], wildcard: string | undefined): Place {
  const visible = [all, ...around.map(({ children }) => children)].flat();
  return { around, functions: visible.filter(({ kind }) => kind === "function"), wildcard };
}

function wildcardOf({ kind, name }: Declaration, taken: ReadonlySet<string>): string | undefined {
  const wildcard = kind === "match" ? DOCUMENTS.exec(name)?.[1] : undefined;
  return wildcard === "database" || !taken.has(wildcard ?? "") ? wildcard : undefined;
}

/** @throws Refusal if brackets, strings or comments are not closed, or a statement is none */
export function refuseUnreadable({ problems }: Rules): void {
  if (problems.length === 0) return;
  throw new Refusal(
    `the file cannot be read. ${problems[0]}. Correct it, and run this again. Or paste by hand: all that ` +
      "node_modules/firestore-tally/firestore.rules has inside `match /databases/{database}/documents { … }`, into the same block of yours",
  );
}

/** Tally's functions have variables, which need version 2. @throws Refusal */
export function refuseOldVersion({ version = "1" }: Rules, source: string): void {
  if (version === "2") return;
  const code = tokensOf(source).filter(({ kind }) => kind !== "comment");
  const stars = code.filter(({ text }, index) => text === "*" && code[index - 1]?.text === "=");
  const lines = stars.map(({ start }) => String(lineAt(source, start)));
  const effect =
    lines.length === 0
      ? "No match of yours has `=**`, so this changes nothing for them"
      : `It changes what \`{name=**}\` means in your matches (line ${listed(lines, 10)}): there it then also stands for no segment. ` +
        "Check these before you deploy";
  throw new Refusal(
    `the rules are of version ${version}, and Tally's need version 2: write \`rules_version = '2';\` as the first line. ${effect}`,
  );
}
