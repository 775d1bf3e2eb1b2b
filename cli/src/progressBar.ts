/** A progress bar on stderr. It is shown in a terminal only. */
import { SingleBar } from "cli-progress";
import { paint } from "./output.ts";
import { columnsOf } from "./wrap.ts";

const REFRESH_MS = 100;

/** Columns for the text beside the bar, which a terminal would cut. */
const TEXT_COLUMNS = 56;

export interface Progress {
  /** From 0 to the total, fractions included. */
  readonly value: number;
  readonly text: string;
}

/** @returns `undefined` if stderr is not a terminal */
export function startProgressBar(label: string, total: number, progress: () => Progress): { stop(): void } | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: `${label} ${paint("cyan", "{bar}", process.stderr)} {percentage}% · {text}`,
    barsize: Math.max(Math.min(columnsOf(process.stderr) - TEXT_COLUMNS, 24), 4),
    barCompleteChar: "━",
    barIncompleteChar: "─",
    hideCursor: true,
    // The default handles Ctrl-C itself.
    gracefulExit: false,
  });
  const show = () => {
    const { value, text } = progress();
    bar.update(Math.min(value, total), { text });
  };
  bar.start(Math.max(total, 1), 0, { text: progress().text });
  const refresh = setInterval(show, REFRESH_MS);
  return {
    stop() {
      clearInterval(refresh);
      show();
      bar.stop();
    },
  };
}
