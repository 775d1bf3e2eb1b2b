/** A progress bar on stderr, where somebody watches; nothing in a pipe. */
import { SingleBar } from "cli-progress";
import { paint } from "./screen.ts";

const REFRESH_MS = 100;

export interface Progress {
  /** How far it is, fractions included. */
  readonly value: number;
  readonly text: string;
}

/** @returns `undefined` where nobody watches */
export function startBar(doing: string, all: number, progress: () => Progress): { stop(): void } | undefined {
  if (!process.stderr.isTTY) return undefined;
  const bar = new SingleBar({
    format: `${doing} ${paint("cyan", "{bar}", process.stderr)} {percentage}% · {text}`,
    barsize: 24,
    barCompleteChar: "━",
    barIncompleteChar: "─",
    hideCursor: true,
    // It would take Ctrl-C to itself.
    gracefulExit: false,
  });
  const show = () => {
    const { value, text } = progress();
    bar.update(Math.min(value, all), { text });
  };
  bar.start(Math.max(all, 1), 0, { text: progress().text });
  const refresh = setInterval(show, REFRESH_MS);
  return {
    stop() {
      clearInterval(refresh);
      show();
      bar.stop();
    },
  };
}
