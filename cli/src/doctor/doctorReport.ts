/** The report of `doctor` for people: each finding with its remedy, what was looked at, what could not be seen, the cost. */
import { describeTarget } from "../databaseTarget.ts";
import { escapeControls } from "../escape.ts";
import { pluralize } from "../format.ts";
import { paint, print, printText } from "../output.ts";
import { bulletList } from "../table.ts";
import { columnsOf, type LongWords, wrap } from "../wrap.ts";
import { type ProjectFacts, seen } from "./facts.ts";
import type { Finding } from "./finding.ts";
import type { Unseen } from "./unseen.ts";

export function printReport(facts: ProjectFacts, findings: readonly Finding[], unseen: readonly Unseen[]): void {
  printText(`${paint("dim", describeTarget(facts.target))}\n`);
  for (const { severity, id, problem, remedy } of findings) {
    const colour = severity === "error" ? "red" : "yellow";
    print(`${paint(colour, severity)} ${paint("bold", id)}`);
    print(indented(escapeControls(`${capitalized(problem)}.`), "clamped"));
    print(`${indented(escapeControls(`→ ${sentence(remedy)}`))}\n`);
  }
  print(bulletList("Looked at:", lookedAt(facts).map(escapeControls)));
  if (unseen.length > 0) {
    print(
      bulletList(
        "\nNot seen:",
        unseen.map(({ part, reason }) => escapeControls(`${part}: ${reason}`)),
      ),
    );
  }
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const counts = `${pluralize(errors, "error")}, ${pluralize(findings.length - errors, "warning")}`;
  print(
    `\n${findings.length === 0 ? "Nothing is wrong." : `${counts}.`} ${paint("dim", `Cost: ${pluralize(facts.reads, "read")}.`)}`,
  );
}

function lookedAt({
  rules,
  functions,
  indexes,
  fields,
  queue,
  counters,
  regions,
  mirrors,
  plan,
}: ProjectFacts): string[] {
  const parts = [
    ...(seen(rules) ? ["rules"] : []),
    ...(seen(functions) ? ["functions"] : []),
    ...(seen(queue) ? ["task queue"] : []),
    ...(seen(indexes) ? ["indexes"] : []),
    ...(seen(fields) ? ["TTL policies"] : []),
  ];
  const sample = seen(counters);
  const summed = seen(plan);
  const exchanges = seen(regions) ?? [];
  const mirrored = seen(mirrors) ?? [];
  return [
    ...(parts.length > 0 ? [parts.join(", ")] : []),
    ...(sample
      ? [
          sample.isComplete
            ? `all counters with shards: ${sample.counters.length}`
            : `a sample of ${pluralize(sample.counters.length, "counter")}; --sample looks at more`,
        ]
      : []),
    ...(exchanges.length > 0 ? [`what other regions have of them: ${pluralize(exchanges.length, "exchange")}`] : []),
    ...(mirrored.length > 0 ? [`what ${pluralize(mirrored.length, "document")} of yours show`] : []),
    ...(summed?.used
      ? [`the sum of ${summed.counter}: ${pluralize(summed.used.reads, "read")} by ${summed.used.indexes.join(", ")}`]
      : []),
  ];
}

/** Text wrapped below its heading. */
function indented(text: string, longWords?: LongWords): string {
  return wrap(text, columnsOf(process.stdout) - 2, longWords)
    .map((line) => `  ${line}`)
    .join("\n");
}

/** A link ends without a full stop, so that a terminal does not take it for a part of the address. */
function sentence(text: string): string {
  return /https:\S+$/.test(text) ? text : `${text}.`;
}

function capitalized(text: string): string {
  // Names such as tally-shardcreated keep their case.
  return /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
