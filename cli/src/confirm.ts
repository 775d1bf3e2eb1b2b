/**
 * Asks before a change that cannot be undone.
 *
 * The change and its database are always printed. Without a terminal it cannot ask, so --yes is required there.
 * Questions go to stderr, so that results can be piped.
 */
import { isCancel, text, confirm as yesOrNo } from "@clack/prompts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, FAILED, INTERRUPTED, WRONG_USAGE } from "./commandError.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { paint, printStatus } from "./output.ts";

export interface Change {
  /** `Delete likes:post42` */
  readonly action: string;
  /** The size of the change, computed only when the question is asked. */
  readonly size?: () => Promise<string>;
  /** A word to type instead of a plain yes. */
  readonly word?: string | undefined;
}

/** Where a question is asked and answered. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** @throws CommandError unless the answer is yes */
export async function confirm(
  { target, yes }: Pick<CommandContext, "target" | "yes">,
  change: Change,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  const { size } = change;
  const action = escapeControls(change.action);
  const word = change.word === undefined ? undefined : escapeControls(change.word);
  const name = describeTarget(target);
  const place = target.emulator === null ? paint(["bold", "red"], name, process.stderr) : name;
  if (yes) return printStatus(`${action} in the ${place}.`);
  if (!input.isTTY || !output.isTTY) {
    throw new CommandError(
      WRONG_USAGE,
      `${action} in the ${name}: this needs a confirmation, and there is no terminal to ask in; pass --yes`,
    );
  }
  printStatus(`${action}${size ? `: ${await size()}` : ""}`);
  printStatus(`in the ${place}`);
  const answer =
    word === undefined
      ? await yesOrNo({ message: "Continue?", initialValue: false, input, output })
      : await text({ message: `Type ${word} to continue`, input, output });
  if (isCancel(answer)) throw new CommandError(INTERRUPTED, "interrupted; nothing was changed");
  if (answer !== true && answer !== word) throw new CommandError(FAILED, "not confirmed; nothing was changed");
}
