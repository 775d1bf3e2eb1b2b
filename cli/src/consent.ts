/**
 * Asks before something is changed that cannot be changed back.
 *
 * What is about to be touched is told in any case. Where nobody can be asked, in a script or a pipe, only --yes is a
 * yes. The question goes to stderr, so that results can be piped.
 */
import { confirm, isCancel, text } from "@clack/prompts";
import { paint, shown, tell } from "./screen.ts";
import type { Session } from "./session.ts";
import { FAILED, INTERRUPTED, Stop, WRONG_USAGE } from "./stop.ts";
import { nameOf } from "./target.ts";

export interface Question {
  /** What is about to happen: `Delete likes:post42`. */
  readonly what: string;
  /** What it amounts to, if that is worth counting only for somebody who is asked. */
  readonly extent?: () => Promise<string>;
  /** What must be typed, where a yes is typed too fast: some word, since nothing is typed fastest. */
  readonly typed?: string | undefined;
}

/** @throws Stop unless the answer is yes */
export async function consent({ target, yes }: Session, question: Question): Promise<void> {
  const { extent } = question;
  const what = shown(question.what);
  const typed = question.typed === undefined ? undefined : shown(question.typed);
  const place = target.emulator === null ? paint(["bold", "red"], nameOf(target), process.stderr) : nameOf(target);
  if (yes) return tell(`${what} in the ${place}.`);
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Stop(WRONG_USAGE, `${what} in the ${nameOf(target)}: nobody can be asked here; pass --yes`);
  }
  tell(`${what}${extent ? `: ${await extent()}` : ""}`);
  tell(`in the ${place}`);
  const output = process.stderr;
  const answer =
    typed === undefined
      ? await confirm({ message: "Go on?", initialValue: false, output })
      : await text({ message: `Type ${typed} to go on`, output });
  if (isCancel(answer)) throw new Stop(INTERRUPTED, "interrupted; nothing was changed");
  if (answer !== true && answer !== typed) throw new Stop(FAILED, "nothing was changed");
}
