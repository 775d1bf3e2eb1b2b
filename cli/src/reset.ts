/**
 * `reset`: sets a counter's total, and forgets its visitors if asked. Cost: 1 read per shard and 8 more, 2 writes, and that of the
 * visitors.
 */
import {
  type CounterRef,
  forgetVisitors,
  getExactTotal,
  type ResetCounterOptions,
  resetCounter,
} from "../../admin/src/index.ts";
import { counterDoc, refuseCountedCollection } from "../../admin/src/internal.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, FAILED, WRONG_USAGE } from "./commandError.ts";
import { confirm } from "./confirm.ts";
import { counterExists } from "./counterExists.ts";
import { escapeControls } from "./escape.ts";
import { resumeCommand } from "./forEachItem.ts";
import { formatNumber } from "./format.ts";
import { interruptible, OutcomeUnknown } from "./interruptible.ts";
import { paint, print, printJson } from "./output.ts";

export async function reset(
  context: CommandContext,
  { visitors }: ResetCounterOptions,
  id: string,
  total: number | undefined,
): Promise<void> {
  const ref = context.ref(id);
  if (total === undefined) {
    if (!visitors)
      throw new CommandError(WRONG_USAGE, "name the new total, or add --visitors to forget the visitors alone");
    return await forget(context, ref);
  }
  // First, because what is refused needs no confirmation.
  refuseCountedCollection(await counterDoc(ref).get());
  const before = await getExactTotal(ref);
  await confirm(context, {
    action: `Reset ${id} from ${formatNumber(before)} to ${formatNumber(total)}${visitors ? ", and forget its visitors" : ""}`,
  });
  await interruptible(() => resetCounter(ref, total, { visitors })).catch((error) => {
    if (!(error instanceof OutcomeUnknown)) throw error;
    const again = resumeCommand(process.argv.slice(2), undefined);
    throw new CommandError(
      error.exitCode,
      `${error.message}; ${escapeControls(id)} may be reset or not. Check it with inspect, or run again:\n  ${again}`,
      error,
    );
  });
  // The counter is reset, even if this read fails. A repeated reset would remove what was incremented since.
  const after = await interruptible(() => getExactTotal(ref)).catch(() => undefined);
  if (context.json) return printJson({ ...context.target, id, before, after: after ?? null });
  print(
    `${escapeControls(id)}  ${paint("dim", formatNumber(before))} → ${paint("bold", formatNumber(after ?? total))}`,
  );
  if (after === undefined) print(paint("dim", "The counter was reset; it could not be read afterwards."));
  else if (after !== total) print(paint("dim", "Increments made during the reset count in full."));
}

/** Cost: that of the visitors. */
async function forget(context: CommandContext, ref: CounterRef): Promise<void> {
  if (!(await counterExists(ref))) throw new CommandError(FAILED, `${escapeControls(ref.id)} does not exist`);
  await confirm(context, { action: `Forget the visitors of ${ref.id}` });
  await interruptible(() => forgetVisitors(ref));
  if (context.json) printJson({ ...context.target, id: ref.id });
  else print(`${escapeControls(ref.id)}: its visitors are forgotten. The total stays.`);
}
