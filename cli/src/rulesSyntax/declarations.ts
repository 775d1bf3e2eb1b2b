/**
 * The blocks of a rules file as a tree, with their places in the source: `service`, `match` and `function`, and the `allow` statements of
 * each match (https://firebase.google.com/docs/rules/rules-language).
 *
 * Expressions are not parsed. A file with problems has a tree, too: of all that could be read.
 */
import { codeOf, isUnfinished, lineAt, type Token, tokensOf } from "./tokens.ts";

export interface Rules {
  readonly declarations: readonly Declaration[];
  /** The text of `rules_version`, without quotes. */
  readonly version: string | undefined;
  /** Why the compiler would refuse the file, each with its line. Not complete: expressions are not looked at. */
  readonly problems: readonly string[];
}

export interface Declaration {
  readonly kind: "service" | "match" | "function";
  /** Of a match its path, relative to the block around it and without white space: `/shards/{shard}`. */
  readonly name: string;
  /** Offsets: the end of the statement before it, so that comments above it lie between; its first word; the rest of its block. */
  readonly lead: number;
  readonly start: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
  readonly end: number;
  /** Of a function: `(by) return by==1;` */
  readonly code: string;
  readonly children: readonly Declaration[];
  readonly allows: readonly Allow[];
}

export interface Allow {
  readonly methods: readonly string[];
  /** `true` for a statement without a condition. */
  readonly condition: string;
}

/** Reserved, so no variable has such a name. A segment of a path or a field may. */
const KEYWORDS = ["service", "match", "function", "allow"];

export function parseDeclarations(source: string): Rules {
  const tokens = tokensOf(source).filter(({ kind }) => kind !== "comment");
  const problems: string[] = [];
  let version: string | undefined;
  let at = 0;

  const is = (text: string) => tokens[at]?.text === text;
  const problem = (token: Token | undefined, what: string) =>
    problems.push(`line ${lineAt(source, token?.start ?? source.length)}: ${what}`);
  const endOf = (index: number) => tokens[index]?.end ?? 0;

  /** Moves behind all that comes before `isEnd`, with whole brackets. @returns the tokens */
  function until(isEnd: (token: Token) => boolean): Token[] {
    const from = at;
    for (let depth = 0; at < tokens.length; at++) {
      const token = tokens[at] as Token;
      if (depth === 0 && isEnd(token)) break;
      if (token.kind !== "symbol") continue;
      if ("([{".includes(token.text)) depth++;
      if (")]}".includes(token.text)) depth--;
      if (depth < 0) break;
    }
    return tokens.slice(from, at);
  }

  /** A brace behind a slash is a wildcard of a path. */
  const opensBlock = (token: Token) => token.text === "{" && tokens[at - 1]?.text !== "/";

  /** The `;` at the end of a statement may be left out. */
  const beginsStatement = (token: Token) =>
    KEYWORDS.includes(token.text) && !["/", "."].includes(tokens[at - 1]?.text ?? "");

  function block(kind: Declaration["kind"], lead: number): Declaration | undefined {
    const first = tokens[at++] as Token;
    const head = until(opensBlock);
    const brace = tokens[at];
    if (brace?.text !== "{") {
      problem(first, `\`${first.text}\` has no block`);
      return undefined;
    }
    at++;
    const inside = kind === "function" ? { body: until(() => false) } : statements(brace.end);
    const closing = tokens[at++];
    const words = codeOf(kind === "function" ? head.slice(0, 1) : head);
    return {
      kind,
      name: words.replaceAll(" ", ""),
      lead,
      start: first.start,
      bodyStart: brace.end,
      bodyEnd: closing?.start ?? source.length,
      end: closing?.end ?? source.length,
      code: "body" in inside ? `${codeOf(head.slice(1))} ${codeOf(inside.body)}` : "",
      children: "body" in inside ? [] : inside.children,
      allows: "body" in inside ? [] : inside.allows,
    };
  }

  function allow(): Allow {
    at++;
    const methods = until((token) => [":", ";", "}"].includes(token.text) || beginsStatement(token));
    if (is(":")) at++;
    if (is("if")) at++;
    const condition = codeOf(until((token) => [";", "}"].includes(token.text) || beginsStatement(token)));
    if (is(";")) at++;
    return { methods: codeOf(methods).split(","), condition: condition || "true" };
  }

  /** All statements up to the end of their block. */
  function statements(start: number): { children: Declaration[]; allows: Allow[] } {
    const found = { children: [] as Declaration[], allows: [] as Allow[] };
    for (let lead = start; at < tokens.length && !is("}"); lead = endOf(at - 1)) {
      const token = tokens[at] as Token;
      if (token.text === "service" || token.text === "match" || token.text === "function") {
        const child = block(token.text, lead);
        if (child) found.children.push(child);
      } else if (token.text === "allow") {
        found.allows.push(allow());
      } else if (token.text === "rules_version") {
        const statement = until((next) => next.text === ";" || beginsStatement(next));
        version = statement.find(({ kind }) => kind === "string")?.text.slice(1, -1);
        if (is(";")) at++;
      } else {
        problem(token, `\`${token.text}\` begins no statement`);
        at++;
      }
    }
    return found;
  }

  const unpaired = unpairedIn(tokens);
  if (unpaired)
    problem(unpaired, `\`${unpaired.text}\` ${")]}".includes(unpaired.text) ? "closes nothing" : "is not closed"}`);
  const declarations: Declaration[] = [];
  for (let start = 0; at < tokens.length; at++) {
    declarations.push(...statements(start).children);
    start = endOf(at);
  }
  return { declarations, version, problems };
}

/** The first bracket, quote or start of a comment without its counterpart. */
function unpairedIn(tokens: readonly Token[]): Token | undefined {
  const open: Token[] = [];
  for (const token of tokens) {
    if (isUnfinished(token)) return token;
    if (token.kind !== "symbol") continue;
    if ("([{".includes(token.text)) open.push(token);
    const pair = ")]}".indexOf(token.text);
    if (pair < 0) continue;
    const last = open.pop();
    if (last?.text !== "([{"[pair]) return last ?? token;
  }
  return open.at(-1);
}

/** All declarations of a file, each before those within. */
export function declarationsIn(source: string): Declaration[] {
  const withChildren = (declared: Declaration): Declaration[] => [declared, ...declared.children.flatMap(withChildren)];
  return parseDeclarations(source).declarations.flatMap(withChildren);
}
