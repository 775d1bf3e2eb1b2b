/**
 * The tokens of a rules file: words, strings, symbols and comments. A brace in a string or a comment is no symbol, and a comment in a
 * string is no comment, so all that reads or edits rules starts here.
 */

export interface Token {
  /** A symbol is one character. One that is `'`, `"` or begins an open `/*` is unfinished: see `isUnfinished`. */
  readonly kind: "word" | "string" | "symbol" | "comment";
  readonly text: string;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
}

const SPACE = /\s+/y;
const LINE_COMMENT = /\/\/[^\n]*?(?=\r?\n|$)/y;
const BLOCK_COMMENT = /\/\*[\s\S]*?\*\//y;
const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y;
const WORD = /\w+/y;

const KINDS = [
  [LINE_COMMENT, "comment"],
  [BLOCK_COMMENT, "comment"],
  [STRING, "string"],
  [WORD, "word"],
] as const;

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  for (let start = 0; start < source.length; ) {
    const space = textAt(SPACE, source, start);
    start += space.length;
    if (start >= source.length) break;
    const [text, kind] = tokenAt(source, start);
    tokens.push({ kind, text, start, end: start + text.length });
    start += text.length;
  }
  return tokens;
}

function tokenAt(source: string, start: number): [string, Token["kind"]] {
  for (const [pattern, kind] of KINDS) {
    const text = textAt(pattern, source, start);
    if (text) return [text, kind];
  }
  if (source.startsWith("/*", start)) return ["/*", "symbol"];
  return [source.charAt(start), "symbol"];
}

function textAt(pattern: RegExp, source: string, start: number): string {
  pattern.lastIndex = start;
  return pattern.exec(source)?.[0] ?? "";
}

/** Whether it begins a string or a comment that does not end. */
export function isUnfinished({ kind, text }: Token): boolean {
  return kind === "symbol" && ["'", '"', "/*"].includes(text);
}

/** The code of some tokens, in one form whatever their white space and comments are. */
export function codeOf(tokens: readonly Token[]): string {
  let code = "";
  let previous: Token | undefined;
  for (const token of tokens) {
    if (token.kind === "comment") continue;
    if (previous && previous.kind !== "symbol" && token.kind !== "symbol") code += " ";
    code += token.text;
    previous = token;
  }
  return code;
}

/** The number of the line of an offset, from 1. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}
