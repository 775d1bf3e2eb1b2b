/**
 * Where output goes: results to stdout, as text or JSON; status, questions and progress to stderr, so that a pipe gets
 * results alone. Colours are for terminals, and NO_COLOR is respected.
 */
import { styleText } from "node:util";
import { escapeJson } from "./escape.ts";

type Style = Parameters<typeof styleText>[0];

/** Styles a part of a text, if the stream it goes to is a terminal with colours. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY && stream.hasColors() ? styleText(style, text, { validateStream: false }) : text;
}

/** Prints a result. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(result: unknown): void {
  print(escapeJson(JSON.stringify(result, null, 2)));
}

export function printStatus(text: string): void {
  process.stderr.write(`${text}\n`);
}
