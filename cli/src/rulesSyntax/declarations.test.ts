import fc from "fast-check";
import { expect, test } from "vitest";
import { OWN_RULES } from "../../testing/healthyFacts.ts";
import { declarationsIn, parseDeclarations } from "./declarations.ts";
import { tokensOf } from "./tokens.ts";

const around = (body: string) => `service cloud.firestore { match /databases/{d}/documents { ${body} } }`;
const allowsIn = (body: string) => declarationsIn(around(body)).flatMap(({ allows }) => allows);
const problemsOf = (source: string) => parseDeclarations(source).problems;

test("Tally's rules have no problems, and every declaration is where its offsets say", () => {
  const { version, problems } = parseDeclarations(OWN_RULES);
  expect([version, problems]).toEqual(["2", []]);
  for (const { kind, start, bodyStart, bodyEnd, end } of declarationsIn(OWN_RULES)) {
    expect(OWN_RULES.slice(start).startsWith(`${kind} `)).toBe(true);
    expect(OWN_RULES[bodyStart - 1] + (OWN_RULES[bodyEnd] ?? "") + OWN_RULES[end - 1]).toBe("{}}");
  }
});

test("a comment above a declaration is between its lead and its start", () => {
  const source = "match /a/{b} { allow read; // one\n // two\n function f() { return true; } }";
  const [f] = parseDeclarations(source).declarations[0]?.children ?? [];
  expect(source.slice(f?.lead, f?.start)).toBe(" // one\n // two\n ");
});

test.each([
  ["match /a/{b} { allow read; allow write: if false; }", ["read: true", "write: false"]],
  ["match /a/{b} { allow read allow write: if false }", ["read: true", "write: false"]],
  ["match /a/{b} { allow read, create: if b in ['x;', \"}\"] }", ["read,create: b in['x;',\"}\"]"]],
  ["match /a/{b} { allow read: if {'a': {'b': 1}}.a.b == 1; }", ["read: {'a':{'b':1}}.a.b==1"]],
  ["match /a/{b} { allow read: if /match/allow == /a/$(b) allow list }", ["read: /match/allow==/a/$(b)", "list: true"]],
  ["match /a/{b} { allow read: if true /* ; */ && // }\n false; }", ["read: true&&false"]],
])("allows of %s", (body, expected) => {
  expect(problemsOf(around(body))).toEqual([]);
  expect(allowsIn(body).map(({ methods, condition }) => `${methods}: ${condition}`)).toEqual(expected);
});

test.each([
  ["match /a/{b}/c/{d=**} {}", "/a/{b}/c/{d=**}"],
  ["match/a/{ b } {}", "/a/{b}"],
  ["match /a/ {b}\n // {\n{}", "/a/{b}"],
  ["match /my-posts/(default)/{b}/* { */{}", "/my-posts/(default)/{b}"],
])("the path of %s", (body, path) => {
  expect(problemsOf(around(body))).toEqual([]);
  expect(declarationsIn(around(body))[2]?.name).toBe(path);
});

test.each([
  ["service s {\n", "line 1: `{` is not closed"],
  ["service s {\n match /a {\n }", "line 1: `{` is not closed"],
  ["service s { }\n}", "line 2: `}` closes nothing"],
  ["service s { match /a { allow read: if (true }; } }", "line 1: `(` is not closed"],
  ["service s { match /a { allow read: if 'a; } }", "line 1: `'` is not closed"],
  ["service s { }\n/* ", "line 2: `/*` is not closed"],
  ["service s { function f() { return 'a; } }", "line 1: `'` is not closed"],
  ["service s { match /a; }", "line 1: `match` has no block"],
  ["import 'x';", "line 1: `import` begins no statement"],
  ["service s { match /a { allow read;; } }", "line 1: `;` begins no statement"],
])("%j: %s", (source, problem) => {
  expect(problemsOf(source)).toContain(problem);
});

test("tokens and the white space between them are the whole source, whatever it holds", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("'", '"', "/", "*", "\\", "\n", "\r", "a", "{", "é", " ")), (parts) => {
      const source = parts.join("");
      let text = "";
      for (const token of tokensOf(source)) {
        expect(source.slice(text.length, token.start)).toMatch(/^\s*$/);
        expect(token.text).toBe(source.slice(token.start, token.end));
        text = source.slice(0, token.end);
      }
      expect(source.slice(text.length)).toMatch(/^\s*$/);
    }),
  );
});
