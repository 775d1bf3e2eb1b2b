/**
 * The parts of a rules file that can be compared: functions by name, and what each match allows by its path.
 *
 * A user's file holds Tally's rules among others, so files as a whole never agree. Comments and white space do not count,
 * nor does the order of the parts. The grammar is small (https://firebase.google.com/docs/rules/rules-language): blocks
 * of `service`, `match` and `function`, and `allow` statements.
 */

export interface RulesParts {
  /** The bodies of the functions of each name; a name may be declared in several matches. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
  readonly matches: readonly Match[];
}

export interface Match {
  /** Below the documents of the database, with its wildcards: `/counters/{counter}/shards/{shard}`. */
  readonly path: string;
  readonly allows: readonly Allow[];
}

export interface Allow {
  readonly methods: readonly string[];
  /** `true` for a statement without a condition. */
  readonly condition: string;
}

const DATABASE_PATH = /^\/databases\/\{\w+\}\/documents/;

const FUNCTION = /function\s+(\w+)\s*\(([^)]*)\)\s*\{/y;
const MATCH = /match\s+((?:\/(?:\{[^}]*\}|[^\s{}/]+))+)\s*\{/y;
const ALLOW = /allow\s+([\w\s,]+?)\s*(?::\s*if\s+([^;]*))?;/y;
const SERVICE = /service\s+[\w.]+\s*\{/y;

export function parseRules(source: string): RulesParts {
  const text = withoutComments(source);
  const functions = new Map<string, string[]>();
  const matches: { path: string; allows: Allow[] }[] = [];
  const open: { path: string; allows: Allow[] }[] = [];
  for (let at = 0; at < text.length; ) {
    const starts = (pattern: RegExp) => {
      pattern.lastIndex = at;
      return /\w/.test(text[at - 1] ?? "") ? null : pattern.exec(text);
    };
    const declared = starts(FUNCTION);
    if (declared) {
      const [head, name = "", parameters = ""] = declared;
      const end = blockEnd(text, at + head.length);
      const body = `(${normalised(parameters)}) ${normalised(text.slice(at + head.length, end))}`;
      functions.set(name, [...(functions.get(name) ?? []), body]);
      at = end + 1;
      continue;
    }
    const matched = starts(MATCH);
    if (matched) {
      const [head, path = ""] = matched;
      const one = { path: (open.at(-1)?.path ?? "") + path, allows: [] };
      matches.push(one);
      open.push(one);
      at += head.length;
      continue;
    }
    const allowed = starts(ALLOW);
    if (allowed) {
      const [statement, methods = "", condition] = allowed;
      open.at(-1)?.allows.push({
        methods: methods.split(",").map((method) => method.trim()),
        condition: condition === undefined ? "true" : normalised(condition),
      });
      at += statement.length;
      continue;
    }
    const service = starts(SERVICE);
    if (service) {
      open.push({ path: "", allows: [] });
      at += service[0].length;
      continue;
    }
    if (text[at] === "}") open.pop();
    at++;
  }
  return {
    functions,
    matches: matches
      .filter(({ path }) => DATABASE_PATH.test(path))
      .map(({ path, allows }) => ({ path: path.replace(DATABASE_PATH, ""), allows }))
      .filter(({ path }) => path !== ""),
  };
}

/** Strings, and comments outside strings. */
const STRING_OR_COMMENT = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

function withoutComments(source: string): string {
  return source.replace(STRING_OR_COMMENT, (found) => (found.startsWith("/") ? " " : found));
}

/** The index of the bracket that closes the block whose text begins at `from`. */
function blockEnd(text: string, from: number): number {
  let depth = 1;
  for (const { 0: token, index } of text.slice(from).matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (token === "{") depth++;
    if (token === "}") depth--;
    if (depth === 0) return from + index;
  }
  return text.length;
}

/** One space for white space between words, none beside brackets and operators, also none within strings' outsides. */
function normalised(code: string): string {
  return code
    .replace(STRING_OR_COMMENT, (found) => found.replaceAll(" ", "\0"))
    .replace(/\s+/g, " ")
    .replace(/ ?([^\w\s$'"\0]) ?/g, "$1")
    .trim()
    .replaceAll("\0", " ");
}
