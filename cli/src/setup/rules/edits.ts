/** What an app has edited between the markers, and what becomes of that when its rules are renewed. */
import { listed } from "../../doctor/finding.ts";
import { type Declaration, declarationsIn } from "../../rulesSyntax/declarations.ts";
import { lineAt } from "../../rulesSyntax/tokens.ts";
import { Refusal } from "./composed.ts";
import { type Block, hashOf } from "./markers.ts";
import { functionsOf, type Parts, unusedIn } from "./policy.ts";

/**
 * Functions of the app's policy that this version does not have.
 *
 * @throws Refusal if one has the name of a function below the policy, because no name may be declared twice
 */
export function policyWarnings(before: Parts, own: Parts): string[] {
  const taken = byName(declarationsIn(own.head + own.rest));
  const same = functionsOf(before.policy).find(({ name }) => taken.has(`function ${name}`));
  if (same) {
    throw new Refusal(
      `your policy has a function \`${same.name}\`, and so have Tally's rules below it. Rename yours, with its calls`,
    );
  }
  return unusedIn(before.policy, own.policy).map(
    (name) =>
      `this version does not call the function \`${name}\` of your policy. It stays; delete it if you do not need it`,
  );
}

/** What is replaced although the app has written it. */
export function lostEdits(source: string, block: Block, before: Parts, own: Parts): string[] {
  if (hashOf(before.head, before.rest) === block.hash) return [];
  const kept = byName(declarationsIn(own.head + own.rest));
  const inPolicy = (at: number) => at >= before.head.length && at < before.head.length + before.policy.length;
  const present = byName(declarationsIn(block.text).filter(({ start }) => !inPolicy(start)));
  const lost = [...present].filter(([name, declared]) => codeOf(declared) !== codeOf(kept.get(name)));
  const where = lost.map(([name, { start }]) => `${name} (line ${lineAt(source, block.textStart + start)})`);
  return [
    "the rules between the markers were edited outside the policy, and these edits are lost" +
      (lost.length > 0 ? `, among them ${listed(where, 10)}` : "") +
      ". Write rules of your own outside the markers",
  ];
}

function byName(declarations: readonly Declaration[]): Map<string, Declaration> {
  return new Map(declarations.map((declared) => [`${declared.kind} ${declared.name}`, declared]));
}

/** What a declaration says, without those within. */
function codeOf(declared: Declaration | undefined): string {
  return declared?.kind === "match" ? JSON.stringify(declared.allows) : (declared?.code ?? "");
}
