/**
 * Puts Tally's rules into an app's rules file, renews them and takes them out again.
 *
 * They stand between two markers (`markers.ts`). All outside the markers stays as it is, byte for byte. Inside, the policy is the app's
 * (`policy.ts`), and the rest is Tally's.
 */
import { type Declaration, declarationsIn, parseDeclarations, type Rules } from "../../rulesSyntax/declarations.ts";
import { type Composed, composed, type Groups, Refusal, type RulesChoice } from "./composed.ts";
import { callOfLimits, emptyMatch, limitsCalledIn, overlapsIn, refuseSameNames } from "./conflicts.ts";
import { lostEdits, policyWarnings } from "./edits.ts";
import { indented, indentIn, insertLines, lineEndOf, removeLines, unitOf } from "./lines.ts";
import { type Block, CLOSING_MARKER, findBlock, hashOf, openingMarker } from "./markers.ts";
import { type Place, placeIn, placeOf, refuseOldVersion, refuseUnreadable } from "./place.ts";
import { functionsOf, groupsOf, type Parts, partsOf, withGroups, withNewFunctions } from "./policy.ts";
import { LIMITS, namesIn, type Sections, sectionsOf, VISITORS } from "./sections.ts";
import { hasRules, withoutSkeleton, withSkeleton } from "./skeleton.ts";

/**
 * Adds Tally's rules to an app's file. If the file has them, renews them and sets their policy to the choice.
 *
 * @param source   the app's rules file; `undefined` if there is none
 * @param tally    the text of Tally's `firestore.rules`
 * @param version  of Tally
 */
export function addRules(source: string | undefined, tally: string, version: string, choice: RulesChoice): Composed {
  return composed((warn) => {
    const file = fileOf(source !== undefined && hasRules(source) ? source : withSkeleton(source ?? ""));
    if (file.block) return renewed(file, file.block, tally, version, warn, choice);
    refuseUnreadable(file.rules);
    const place = placeIn(file.rules, namesIn(tally));
    refuseOldVersion(file.rules, file.source);
    const overlaps = overlapsIn(file.source, choice.collection);
    if (overlaps.own) throw new Refusal(overlaps.own);
    overlaps.others.forEach(warn);
    const container = place.around.at(-1) as Declaration;
    const indent = indentIn(file.source, container, unitOf(file.source));
    const limitNames = limitsCalledIn(file.outside);
    const sections = { ...choice, limitNames, visitors: choice.visitors.length > 0 };
    const parts = rulesAt(place, indent, file, tally, sections, warn);
    const policy = withGroups(parts.policy, choice, warn);
    return insertLines(
      file.source,
      container.bodyEnd,
      marked({ ...parts, policy }, version, indent, file.eol),
      file.eol,
    );
  });
}

/**
 * Renews Tally's rules in an app's file. The policy stays as the app has edited it, and gets the functions that are new.
 *
 * @param needed  the groups of `needsFunctions`, if it is new; `undefined` if the parameters are not known
 */
export function upgradeRules(source: string, tally: string, version: string, needed?: Groups["functions"]): Composed {
  return composed((warn) => {
    const file = fileOf(source);
    if (file.block) return renewed(file, file.block, tally, version, warn, undefined, needed);
    throw new Refusal("the file has no rules between Tally's markers. `npx firestore-tally init` adds them");
  });
}

/** Takes Tally's rules out, with their policy. A file that `addRules` has written has the bytes again that it had, which are none if it was new. */
export function removeRules(source: string): Composed {
  return composed((warn) => {
    const { block, outside } = fileOf(source);
    if (!block) {
      warn("the file has no rules between Tally's markers. If they were pasted by hand, delete them by hand");
      return source;
    }
    const call = callOfLimits(outside);
    if (call) {
      throw new Refusal(
        `line ${call.line}: your rules call \`${call.name}\`, a function of Tally that would be missing. Delete the call first`,
      );
    }
    const text = withoutSkeleton(removeLines(source, block.start, block.end));
    const empty = emptyMatch(text);
    if (empty)
      warn(
        `line ${empty.line}: match ${empty.name} is empty now, and does not compile: write rules of your own, or delete it`,
      );
    return text;
  });
}

/**
 * What an app has chosen, by the rules in its file. A function that it has edited into another form than a list has no groups.
 *
 * @returns `undefined` if the file has no rules of Tally, or damaged ones
 */
export function readChoice(source: string): RulesChoice | undefined {
  try {
    const { block } = fileOf(source);
    return block && choiceIn(block);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

interface RulesFile {
  readonly source: string;
  readonly rules: Rules;
  readonly block: Block | undefined;
  /** With empty lines in place of Tally's rules, so that lines keep their numbers. */
  readonly outside: string;
  readonly eol: string;
}

function fileOf(source: string): RulesFile {
  const block = findBlock(source);
  const blank = block && source.slice(block.start, block.end).replace(/[^\n]/g, "");
  const outside = block ? source.slice(0, block.start) + blank + source.slice(block.end) : source;
  return { source, rules: parseDeclarations(source), block, outside, eol: lineEndOf(source) };
}

/** @param chosen  what the policy is set to; left out, it stays */
function renewed(
  file: RulesFile,
  block: Block,
  tally: string,
  version: string,
  warn: (warning: string) => void,
  chosen?: RulesChoice,
  needed?: Groups["functions"],
): string {
  refuseUnreadable(file.rules);
  refuseOldVersion(file.rules, file.source);
  const place = placeOf(block, file.source, file.rules, namesIn(tally));
  const present = choiceIn(block);
  const before = partsOf(block.text);
  const { collection } = chosen ?? present;
  const overlaps = overlapsIn(file.outside, collection);
  if (chosen && overlaps.own) throw new Refusal(overlaps.own);
  if (overlaps.own) warn(overlaps.own);
  overlaps.others.forEach(warn);
  const call = callOfLimits(file.outside, before.policy);
  const limits = chosen?.limits || (present.limits && (!chosen || call !== undefined));
  if (chosen && limits && !chosen.limits) warn(`the rate limits stay, because your rules call \`${call?.name}\``);
  const visitors =
    functionsOf(before.policy).some(({ name }) => name === VISITORS.functions[0]) || !!chosen?.visitors.length;
  const limitNames = limitsCalledIn(`${file.outside}\n${before.policy}`);
  const newParts = rulesAt(place, block.indent, file, tally, { visitors, limits, limitNames, collection }, warn);
  policyWarnings(before, newParts).forEach(warn);
  lostEdits(file.source, block, before, newParts).forEach(warn);
  if (!chosen && !needed && !functionsOf(before.policy).some(({ name }) => name === "needsFunctions")) warn(UNKNOWN);
  // Without a function of the policy its counters were closed, and `upgrade` opens none.
  const newPolicy = withGroups(newParts.policy, chosen ?? { ...NO_GROUPS, functions: needed ?? "all" }, warn);
  const edited = chosen ? withGroups(before.policy, chosen, warn) : before.policy;
  const policy = withNewFunctions(edited, newPolicy, file.eol);
  const lines = marked({ ...newParts, policy }, version, block.indent, file.eol);
  return file.source.slice(0, block.start) + lines + file.source.slice(block.end);
}

const NO_GROUPS = { open: [], once: [], stock: [], visitors: [], hasFunctions: true };

const UNKNOWN =
  "needsFunctions is new, and returns true, because the functions' parameters are in no file here: each increment runs the functions. With " +
  "REGIONS, DIRECT=no or * in WINDOWS or HISTORY, leave that. Else let it return `counterGroup() in […]`, with the groups of WINDOWS, HISTORY, MIRRORS " +
  "and BRIDGE";

/** Tally's rules for a place, in the form of the file. */
function rulesAt(
  place: Place,
  indent: string,
  file: RulesFile,
  tally: string,
  sections: Sections,
  warn: (warning: string) => void,
): Parts {
  const { wildcard } = place;
  if (sections.limits && wildcard) refuseSameNames(file.source, place, file.block);
  if (sections.limits && !wildcard) {
    warn(
      "your matches are not in one `match /databases/{database}/documents { … }`, so Tally's rules have their own, and your rules " +
        "cannot call `isWithinLimit`. Move your matches into one such block, and run `remove` and `init` again",
    );
  }
  const lines = sectionsOf(tally, sections, wildcard ?? "database");
  const whole = wildcard ? lines : `match /databases/{database}/documents {\n${indented(lines, "  ")}}\n`;
  return partsOf(indented(whole, indent, unitOf(file.outside), file.eol));
}

function marked({ head, policy, rest }: Parts, version: string, indent: string, eol: string): string {
  const opening = openingMarker(version, hashOf(head, rest));
  return `${indent}${opening}${eol}${head}${policy}${rest}${indent}${CLOSING_MARKER}${eol}`;
}

function choiceIn({ text }: Block): RulesChoice {
  const matches = declarationsIn(text).filter(({ kind }) => kind === "match");
  const counters = matches.find(({ name }) => /^\/[^/]+\/\{counter\}$/.test(name));
  if (!counters) {
    throw new Refusal(
      "between the markers of Tally's rules is no match of the counters: run `remove` and `init` again",
    );
  }
  return {
    ...groupsOf(partsOf(text).policy),
    limits: matches.some(({ name }) => name === LIMITS.match),
    collection: counters.name.split("/")[1] as string,
  };
}
