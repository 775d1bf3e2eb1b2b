/**
 * Parses a planner and reduces it to what must be the same in Kotlin, Swift and Dart: constants, fields, functions with their
 * parameters, and in each function the order of names, operators, literals, branches and grouping parentheses. Types,
 * conversions between them, argument labels and punctuation are left out, and the few names that differ from one standard
 * library to another are translated. Nesting of operators is left to their precedence, which is the same for those in use:
 * the grammars do not all get it right.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Node, Parser, type Tree, Language as TreeSitterLanguage } from "web-tree-sitter";
import type { Language } from "../../mobile/conformance/planner.ts";

const require = createRequire(import.meta.url);
const compiled = join(dirname(require.resolve("@repomix/tree-sitter-wasms/package.json")), "out");
const GRAMMARS: Readonly<Record<Language, string>> = {
  kotlin: join(
    dirname(require.resolve("@tree-sitter-grammars/tree-sitter-kotlin/package.json")),
    "tree-sitter-kotlin.wasm",
  ),
  swift: join(compiled, "tree-sitter-swift.wasm"),
  dart: join(compiled, "tree-sitter-dart.wasm"),
};

const grammars = new Map<Language, Promise<TreeSitterLanguage>>();

export async function parse(language: Language, source: string): Promise<Tree> {
  await Parser.init();
  const grammar = grammars.get(language) ?? TreeSitterLanguage.load(GRAMMARS[language]);
  grammars.set(language, grammar);
  const parser = new Parser();
  parser.setLanguage(await grammar);
  return parser.parse(source) as Tree;
}

/** Where the grammar does not accept the source: `line: text`. */
export function syntaxErrors(node: Node): string[] {
  if (node.isError || node.isMissing) return [`${node.startPosition.row + 1}: ${node.text.slice(0, 80)}`];
  return node.hasError ? node.children.flatMap(syntaxErrors) : [];
}

/** `Class.name` → parameters and tokens of a function, or the tokens of a field's initial value. */
export type Constructs = Record<string, string>;

export function constructsOf(language: Language, tree: Tree): Constructs {
  const found: Constructs = {};
  for (const type of tree.rootNode.descendantsOfType(["class_declaration", "object_declaration", "class_definition"])) {
    const owner = normalized(type.children.find(({ type }) => /identifier$/.test(type))?.text ?? "");
    // The values of a plan are written differently; each use of one is compared.
    if (VALUES.has(owner.replace(/^tally/, "")) || owner === "tallyvalue") continue;
    const body = type.childForFieldName("body") ?? type.children.find((child) => /class_body$/.test(child.type));
    const members = body?.children ?? [];
    for (const parameter of type.descendantsOfType("class_parameter"))
      if (parameter.parent?.parent?.parent?.id === type.id) found[`${owner}.${nameOf(parameter)}`] = "";
    for (const [index, member] of members.entries()) {
      const field = fieldOf(member);
      if (field) found[`${owner}.${field.name}`] = tokensOf(language, field.value);
      const signature = /^(function_declaration|method_signature)$/.test(member.type) ? member : undefined;
      if (!signature) continue;
      const next = members[index + 1];
      const functionBody = signature.descendantsOfType("function_body")[0] ?? next;
      const parameters = signature
        .descendantsOfType(["parameter", "formal_parameter"])
        .filter((parameter) => !functionBody || parameter.startIndex < functionBody.startIndex)
        .map(nameOf);
      const inner = signature.descendantsOfType("function_signature")[0] ?? signature;
      const name = normalized(inner.children.find(({ type }) => /^(simple_)?identifier$/.test(type))?.text ?? "?");
      found[`${owner}.${name}`] = `(${parameters.join(" ")}) ${functionBody ? tokensOf(language, [functionBody]) : ""}`;
    }
  }
  return found;
}

/** The last identifier before the type: Swift writes the label first. */
function nameOf(parameter: Node): string {
  const names = parameter.children.filter(({ type }) => /^(simple_)?identifier$/.test(type));
  return normalized(names.at(-1)?.text ?? parameter.text);
}

function fieldOf(member: Node): { name: string; value: Node[] } | undefined {
  if (!/^(property_declaration|declaration)$/.test(member.type)) return undefined;
  const [holder] = member.descendantsOfType(["static_final_declaration", "initialized_identifier"]);
  const children = (holder ?? member).children;
  const assigned = children.findIndex(({ type }) => type === "=");
  const before = assigned < 0 ? children : children.slice(0, assigned);
  const [named] = before.flatMap((child) =>
    /^(variable_declaration|pattern)$/.test(child.type)
      ? child.children.slice(0, 1)
      : /^identifier$/.test(child.type)
        ? [child]
        : [],
  );
  // A constructor of Dart is a declaration, too.
  if (!named) return undefined;
  return { name: normalized(named.text), value: assigned < 0 ? [] : children.slice(assigned + 1) };
}

/** Kinds of plan values: `TallyValue.Text` in Kotlin, `TallyValue.text` in Swift, `TallyText` in Dart. */
const VALUES = new Set(["text", "whole", "increment", "servertime", "append", "fields", "delete", "flag"]);

/** Names of the standard libraries, and operators. */
const TRANSLATED: Readonly<Record<string, string>> = {
  nil: "null",
  "~/": "/",
  "?:": "??",
  "===": "==",
  size: "length",
  count: "length",
  append: "add",
  removewhere: "removeall",
  any: "contains",
  hasprefix: "startswith",
  hassuffix: "endswith",
  tobytearray: "utf8",
  codepoints: "runes",
  unicodescalars: "runes",
};

/** They build values or convert between types that another language converts by itself. */
const DROPPED = new Set([
  ...["toint", "tolong", "todouble", "tostring", "toarray"],
  ...["int", "int64", "uint32", "double", "string"],
  ...["mapof", "mutablemapof", "listof", "mutablelistof", "tallyvalue"],
]);

/** Parts of a tree that hold no behaviour. */
const SKIPPED =
  /^(user_type|type_identifier|type_annotation|type_arguments|nullable_type|optional_type|array_type|function_type|value_argument_label|line_comment|comment|multiline_comment)$/;

const GROUP = /^(parenthesized_expression|tuple_expression)$/;
const BRANCH = /^(if_expression|if_statement|ternary_expression|conditional_expression)$/;
const LOOP = /^while_statement$/;
const OPERATOR = /^([-+*/%<>=!&|?~:]{1,3})$/;

function tokensOf(language: Language, nodes: Node[]): string {
  const tokens: string[] = [];
  const visit = (node: Node): void => {
    if (SKIPPED.test(node.type)) return;
    const isGroup = GROUP.test(node.type) && !isConverted(node);
    if (isGroup) tokens.push("(");
    if (BRANCH.test(node.type)) tokens.push("if");
    if (LOOP.test(node.type)) tokens.push("while");
    if (/string_literal$|^string_literal/.test(node.type)) tokens.push(JSON.stringify(node.text.slice(1, -1)));
    else if (node.childCount === 0) leaf(node);
    else node.children.forEach(visit);
    if (isGroup) tokens.push(")");
  };
  const leaf = (node: Node): void => {
    const { text, type } = node;
    const parent = node.parent as Node;
    if (/literal$/.test(type) && /^\d/.test(text)) tokens.push(text.replace(/_|L$/g, "").replace(/\.0$/, ""));
    else if (text === "return" || text === "else") tokens.push(text);
    else if (text === ":" && BRANCH.test(parent.type)) tokens.push("else");
    else if (/^[{}]$/.test(text) && isBranchBody(parent)) tokens.push(text);
    // Between the two values of a conditional, and after what cannot be null.
    else if (text === "?" || (text === "!" && !isPrefix(parent))) return;
    else if (/^(:|->|=>)$/.test(text)) return;
    else if (OPERATOR.test(text)) tokens.push(TRANSLATED[text] ?? text);
    else if (/identifier$|^(null|nil|true|false|boolean_literal)$/.test(type)) identifier(node);
  };
  const identifier = (node: Node): void => {
    const name = normalized(node.text);
    // Kotlin's `to` makes a pair of a map.
    if (name === "to" && node.parent?.type === "infix_expression") return;
    const value = name.replace(/^tally/, "");
    if (VALUES.has(value) && name !== value) tokens.push(value);
    else if (!DROPPED.has(name)) tokens.push(isValue(node) ? name : (TRANSLATED[name] ?? name));
  };
  for (const node of nodes) visit(node);
  const text = tokens.join(" ");
  // Two calls whose argument comes first in the other languages.
  return language === "dart" ? text.replace(/utf8 encode (\S+)/, "$1 utf8").replace(/(\S+) abs\b/, "abs $1") : text;
}

/** Parentheses that another language does not need: `(a * b).toInt()` is `Int(a * b)` in Swift, and Dart's `while` has some. */
function isConverted(group: Node): boolean {
  const after = group.parent?.text.slice(group.endIndex - group.parent.startIndex) ?? "";
  return LOOP.test(group.parent?.type ?? "") || /^\s*\.(toInt|toString)\b/.test(after);
}

function isBranchBody(parent: Node): boolean {
  if (BRANCH.test(parent.type) || LOOP.test(parent.type)) return true;
  const outer = parent.parent;
  return parent.type === "block" && outer !== null && (BRANCH.test(outer.type) || LOOP.test(outer.type));
}

function isPrefix(parent: Node): boolean {
  const isOperator = /^(unary_expression|bang|prefix_expression|negation_operator|prefix_operator)$/.test(parent.type);
  return isOperator && parent.parent?.type !== "postfix_expression";
}

/** Whether a name is a kind of plan value: `TallyValue.append`, not the function of an array. */
function isValue({ parent }: Node): boolean {
  return [parent, parent?.parent].some((one) => one?.text.startsWith("TallyValue."));
}

/** `MAX_SHARDS` of Kotlin and `_maxShards` of Dart are `maxShards` elsewhere. */
function normalized(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}
