/**
 * Derives from the plans of the features: functions and parameters in extension.yaml, tables in docs/configuration.md, exports in
 * functions/src/index.ts. `npm run derive` writes them; derived.test.ts compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
// @ts-expect-error: it has no declarations.
import toRegexRange from "to-regex-range";
import { stringify } from "yaml";
import { FUNCTIONS } from "../functions/src/deploy/functions.ts";
import { ALL_PLANS, PARAMETERS } from "../functions/src/deploy/parameters.ts";
import { RATE_LIMITS, RETRY_CONFIG, SWEEP_TIMEOUT_SECONDS } from "../functions/src/deploy/taskLimits.ts";
import type { FunctionPlan } from "../functions/src/shared/feature.ts";
import { isWholeNumber, type Parameter, patternOf } from "../functions/src/shared/parameters.ts";

/** Each derived file, and what it must hold. */
export const DERIVED: Readonly<Record<string, (text: string) => string>> = {
  "extension.yaml": withResources,
  "docs/configuration.md": withTables,
  "functions/src/index.ts": withExports,
};

const inExtension = <Kind extends { isNotInExtension?: true }>(all: Iterable<readonly [string, Kind]>) =>
  [...all].filter(([, one]) => !one.isNotInExtension);

// The manifest

/** The first parameters of the manifest are not derived: it has lists of regions that nothing else has. */
const BY_HAND = ["LOCATION"];

function withResources(text: string): string {
  const resources = inExtension(FUNCTIONS).map(([name, one]) => resourceOf(name, one));
  const params = inExtension(Object.entries(PARAMETERS))
    .filter(([name]) => !BY_HAND.includes(name))
    .map(([name, one]) => manifestParameter(name, one));
  const [head, , byHand] = text.split(/^(?=resources:$|params:$| {2}- param: DATABASE_ID$)/m);
  return `${head}resources:\n${itemsOf(resources)}${byHand}${itemsOf(params).trimEnd()}\n`;
}

/** The items of a list, with an empty line after each. */
function itemsOf(list: readonly object[]): string {
  const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: "yaml-1.1" } as const;
  return list.map((item) => `${stringify([item], options).replace(/^(?=.)/gm, "  ")}\n`).join("");
}

function resourceOf(name: string, { does: description, trigger }: Pick<FunctionPlan, "does" | "trigger">): object {
  const place = { location: entered("LOCATION"), sourceDirectory: "functions" };
  if ("path" in trigger) {
    const document = trigger.root === undefined ? trigger.path : `${entered(trigger.root)}/${trigger.path}`;
    return {
      name,
      type: "firebaseextensions.v1beta.v2function",
      description,
      properties: {
        ...place,
        buildConfig: { runtime: "nodejs24" },
        serviceConfig: { availableMemory: "512Mi", timeoutSeconds: 60 },
        eventTrigger: {
          eventType: `google.cloud.firestore.document.v1.${trigger.on}`,
          triggerRegion: entered("DATABASE_REGION"),
          retryPolicy: "RETRY_POLICY_RETRY",
          eventFilters: [
            { attribute: "database", value: entered("DATABASE_ID") },
            { attribute: "document", value: document, operator: "match-path-pattern" },
          ],
        },
      },
    };
  }
  // Its instances handle one request, or one message, at a time.
  const availableMemoryMb = ["request", "message"].includes(trigger.on) ? 256 : 512;
  const timeout = `${trigger.on === "schedule" ? SWEEP_TIMEOUT_SECONDS : 60}s`;
  return {
    name,
    type: "firebaseextensions.v1beta.function",
    description,
    properties: { ...place, runtime: "nodejs22", availableMemoryMb, timeout, ...firstGenerationTrigger(name, trigger) },
  };
}

/** The value of a parameter, as the manifest refers to it. */
function entered(parameter: string): string {
  return `\${param:${parameter}}`;
}

function firstGenerationTrigger(name: string, trigger: FunctionPlan["trigger"]): object {
  switch (trigger.on) {
    case "request":
      return { httpsTrigger: {} };
    case "message": {
      const resource = `projects/\${PROJECT_ID}/topics/${entered(trigger.topic)}`;
      return { eventTrigger: { eventType: "google.pubsub.topic.publish", resource, failurePolicy: { retry: {} } } };
    }
    case "task":
      return { taskQueueTrigger: { rateLimits: RATE_LIMITS, retryConfig: RETRY_CONFIG } };
    case "schedule":
      return { scheduleTrigger: { schedule: `every ${trigger.every}` } };
    default:
      throw new Error(`${name} has no trigger of the 1st generation`);
  }
}

function manifestParameter(param: string, parameter: Parameter): object {
  const { label, description, default: value } = parameter;
  const check = checkOf(parameter);
  return {
    param,
    label,
    description,
    type: "string",
    default: value,
    required: value !== "",
    ...(check && { validationRegex: check.text, validationErrorMessage: check.invalid }),
  };
}

/** The form of the extension has texts alone, so it checks whole numbers, too. */
function checkOf(parameter: Parameter): ReturnType<typeof patternOf> {
  const [from, to] = parameter.range ?? [0, 0];
  if (!isWholeNumber(parameter)) return patternOf(parameter);
  return {
    text: `^${toRegexRange(from, to, { capture: true, shorthand: true })}$`,
    invalid: `Enter a whole number from ${from} to ${to}.`,
  };
}

// The tables

function withTables(text: string): string {
  return text.replaceAll(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table.trimEnd().split("\n").map(cellsOf);
    const [heading = [], , ...body] = rows;
    if (heading[0] === "feature") return tableOf([heading, ...featureRows()]);
    if (heading[0] !== "parameter") return table;
    // A row with the name of a new parameter is filled in. The row of a deleted parameter is deleted.
    const rowsOfTable = body.flatMap(([name = ""]) => {
      const parameter = PARAMETERS[name.replaceAll("`", "")];
      return parameter ? [[name, defaultInTable(parameter), parameter.accepted, parameter.setIf ?? ""]] : [];
    });
    const sorted = rowsOfTable.sort(([one = ""], [other = ""]) => placeOf(one) - placeOf(other));
    return tableOf([heading, ...sorted.map((row) => row.slice(0, heading.length))]);
  });
}

function placeOf(nameInTable: string): number {
  return Object.keys(PARAMETERS).indexOf(nameInTable.replaceAll("`", ""));
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

function defaultInTable({ default: value, range }: Parameter): string {
  if (value === "") return "(empty)";
  return range ? Number(value).toLocaleString("en-US", { maximumFractionDigits: 9 }) : `\`${value}\``;
}

function featureRows(): string[][] {
  return ALL_PLANS.flatMap(({ tableRows = {}, functions = {} }) => {
    const asked = new Set(Object.values(tableRows));
    return Object.entries(tableRows).map(([feature, parameter]) => {
      const own = Object.entries(functions).map(([name, { askedForBy, trigger }]) => {
        const suffix = trigger.on === "request" ? ", public" : "";
        return { askedForBy: askedForBy ?? "", text: `\`${name}\`${suffix}` };
      });
      const alone = own.filter(({ askedForBy }) => askedForBy === parameter).map(({ text }) => text);
      const others = own
        .filter(({ askedForBy }) => !asked.has(askedForBy))
        .map(({ askedForBy, text }) => `${text} with \`${askedForBy}\``);
      return [feature, `\`${parameter}\``, [alone.join(", "), ...others].join("; ") || "none"];
    });
  });
}

/** As Biome formats it. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [heading = [], ...body] = rows;
  const ruler = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return `${[line(heading), ruler, ...body.map(line)].join("\n")}\n`;
}

// The exports

function withExports(text: string): string {
  const names = [...FUNCTIONS.keys()].map((name) => `  ${name},\n`).join("");
  return text.replace(/(?<=^export const \{\n)(?: {2}\w+,\n)+/m, names);
}

if (import.meta.main) {
  for (const [file, derive] of Object.entries(DERIVED)) writeFileSync(file, derive(readFileSync(file, "utf8")));
}
