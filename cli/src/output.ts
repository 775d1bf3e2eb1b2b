/**
 * Where output goes: results to stdout, as text or JSON; status, questions and progress to stderr, so that a pipe gets
 * results alone. Colours are for terminals, and NO_COLOR is respected.
 */
import { styleText } from "node:util";
import { escapeJson } from "./escape.ts";
import { columnsOf, wrapMessage } from "./wrap.ts";

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

/** One of many results: one line (https://jsonlines.org). */
export function printJsonLine(result: unknown): void {
  print(escapeJson(JSON.stringify(result)));
}

/** Prints text of a result, wrapped. */
export function printText(text: string): void {
  print(wrapMessage(text, columnsOf(process.stdout)));
}

/** Prints a message: wrapped at a terminal, on one line in a log. */
export function printStatus(text: string): void {
  const { stderr } = process;
  stderr.write(`${stderr.isTTY ? wrapMessage(text, columnsOf(stderr)) : text}\n`);
}
