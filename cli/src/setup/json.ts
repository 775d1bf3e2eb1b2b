/**
 * Edits of a JSON file that leave every other character as it is: comments, indentation, line ends. An item is written on one line if it
 * fits.
 */
import { findNodeAtLocation, type Node, type ParseError, parse, parseTree } from "jsonc-parser";
import { CommandError, FAILED } from "../commandError.ts";

const LINE_WIDTH = 120;

/** Keys of objects and positions in lists. */
type Path = readonly (string | number)[];

/** The value of a text; `undefined` if it is no JSON. */
export function parseJson(text: string): unknown {
  const errors: ParseError[] = [];
  const value = parse(text, errors);
  return errors.length > 0 ? undefined : value;
}

/** @throws CommandError if the text is no JSON object; comments are allowed, as firebase-tools does */
export function readJson(path: string, text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new CommandError(FAILED, `${path} is no JSON object; correct it, then try again`);
  return value as Record<string, unknown>;
}

/** Sets a value of an object. Objects on the way to it are made. */
export function setIn(text: string, path: Path, value: unknown): string {
  const [key, parents] = [path.at(-1), path.slice(0, -1)];
  const node = nodeAt(text, path);
  if (node) return replace(text, node, value);
  const parent = nodeAt(text, parents);
  if (!parent) return setIn(text, parents, { [String(key)]: value });
  return insert(text, parent, `${JSON.stringify(key)}: `, value);
}

/** Adds an item at the end of a list, which is made if it is missing. */
export function append(text: string, path: Path, item: unknown): string {
  const list = nodeAt(text, path);
  return list ? insert(text, list, "", item) : setIn(text, path, [item]);
}

/** Makes the value at a path the only item of a list. */
export function wrapInList(text: string, path: Path): string {
  const node = nodeAt(text, path) as Node;
  const [start, end] = [node.offset, endOf(node)];
  return `${text.slice(0, start)}[${text.slice(start, end)}]${text.slice(end)}`;
}

/** Removes a value and its key, with the comma before it. The first value loses the comma after it. */
export function removeIn(text: string, path: Path): string {
  const value = nodeAt(text, path);
  const node = value?.parent?.type === "property" ? value.parent : value;
  if (!node?.parent) return text;
  const siblings = node.parent.children ?? [];
  const position = siblings.indexOf(node);
  const [before, after] = [siblings[position - 1], siblings[position + 1]];
  if (before) {
    const between = text.slice(endOf(before), node.offset);
    const comments = /\/[/*]/.test(between) ? between.replace(",", "").trimEnd() : "";
    return text.slice(0, endOf(before)) + comments + text.slice(endOf(node));
  }
  if (after) return text.slice(0, node.offset) + text.slice(after.offset);
  return text.slice(0, node.parent.offset + 1) + text.slice(endOf(node.parent) - 1);
}

function nodeAt(text: string, path: Path): Node | undefined {
  const root = parseTree(text);
  return root && findNodeAtLocation(root, [...path]);
}

const endOf = ({ offset, length }: Node) => offset + length;

function replace(text: string, node: Node, value: unknown): string {
  const indent = indentAt(text, node.offset);
  return text.slice(0, node.offset) + written(value, indent, styleOf(text)) + text.slice(endOf(node));
}

function insert(text: string, container: Node, key: string, value: unknown): string {
  const style = styleOf(text);
  const last = container.children?.at(-1);
  const outer = indentAt(text, container.offset);
  const inner = last && isFirstOnLine(text, last.offset) ? indentAt(text, last.offset) : outer + style.unit;
  const item = style.eol + inner + key + written(value, inner, style, key.length);
  if (last) return `${text.slice(0, endOf(last))},${item}${text.slice(endOf(last))}`;
  const [start, end] = [container.offset + 1, endOf(container) - 1];
  return text.slice(0, start) + item + style.eol + outer + text.slice(end);
}

interface Style {
  readonly unit: string;
  readonly eol: string;
}

function styleOf(text: string): Style {
  const [, unit = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  return { unit, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}

/** The white space at the start of a line. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function isFirstOnLine(text: string, offset: number): boolean {
  return /(^|\n)[ \t]*$/.test(text.slice(0, offset));
}

/** A value as text. @param taken  how much of its first line is taken beside the indentation */
function written(value: unknown, indent: string, style: Style, taken = 0): string {
  const line = onOneLine(value);
  if (typeof value !== "object" || value === null || indent.length + taken + line.length < LINE_WIDTH) return line;
  const inner = indent + style.unit;
  const items = Array.isArray(value)
    ? value.map((item) => written(item, inner, style))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}: ${written(item, inner, style, key.length + 4)}`,
      );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}${style.eol}${items.map((item) => inner + item).join(`,${style.eol}`)}${style.eol}${indent}${close}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${onOneLine(item)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
