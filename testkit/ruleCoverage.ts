/**
 * Which expressions of the rules the tests have not evaluated, from the emulator's report.
 *
 * The report has a tree of expressions, each with the values it had and how often. No `values`: never evaluated; `{}`:
 * skipped by a short circuit; `undefined`: an error, or the emulator's first pass, which knows no documents. Only other
 * values count. The report is of one project and starts anew when rules are loaded into it.
 * https://firebase.google.com/docs/rules/emulator-reports
 */

interface Expression {
  /** Counted in code points, both inclusive. Closing brackets at the end are left off. */
  readonly sourcePosition: { readonly line: number; readonly currentOffset: number; readonly endOffset: number };
  readonly values?: readonly { readonly value: Record<string, unknown> }[];
  readonly children?: readonly Expression[];
}

interface Report {
  readonly rules: { readonly files: readonly [{ readonly content: string }] };
  readonly report: readonly Expression[];
}

export interface Gap {
  readonly line: number;
  /** Such as `isOwn(uid): never false`. */
  readonly what: string;
}

/** Every expression and sub-expression that had no value yet or, if boolean, only one of the two. */
export async function gapsInRules(project: string): Promise<Gap[]> {
  const host = process.env.FIRESTORE_EMULATOR_HOST;
  const response = await fetch(`http://${host}/emulator/v1/projects/${project}:ruleCoverage`);
  if (!response.ok) throw new Error(`no coverage report of ${project}: ${await response.text()}`);
  const { rules, report } = (await response.json()) as Report;
  const source = [...rules.files[0].content];
  return report.flatMap((expression) => gapsIn(expression, source)).sort((a, b) => a.line - b.line);
}

function gapsIn({ sourcePosition, values = [], children = [] }: Expression, source: readonly string[]): Gap[] {
  const seen = values
    .map(({ value }) => value)
    .filter((value) => Object.keys(value).some((kind) => kind !== "undefined"));
  const booleans = new Set(seen.flatMap((value) => ("boolValue" in value ? [value.boolValue] : [])));
  const missing = seen.length === 0 ? "evaluated" : booleans.size === 1 ? String(!booleans.has(true)) : undefined;
  const text = textFrom(source, sourcePosition.currentOffset, sourcePosition.endOffset);
  const own = missing ? [{ line: sourcePosition.line, what: `${text}: never ${missing}` }] : [];
  return [...own, ...children.flatMap((child) => gapsIn(child, source))];
}

/** The text of an expression on one line, with its closing brackets. */
function textFrom(source: readonly string[], start: number, end: number): string {
  let text = source.slice(start, end + 1).join("");
  const open = () => text.split(/[([{]/).length - text.split(/[)\]}]/).length;
  for (let next = end + 1; open() > 0 && next < source.length; next++) text += source[next];
  return text.replace(/\s+/g, " ");
}
