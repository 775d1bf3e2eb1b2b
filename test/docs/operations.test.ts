/**
 * docs/operations.md and the files of ops/ fit the code: each filter has the exact messages that the functions log, each alarm
 * has its section, and each file the shape that Google documents.
 */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FUNCTIONS } from "../../functions/src/decisions.ts";

interface Metric {
  filter: string;
  metricDescriptor: { labels?: { key: string }[] };
  labelExtractors?: Record<string, string>;
}

interface Policy {
  conditions: { conditionThreshold: { filter: string; aggregations: { groupByFields?: string[] }[] } }[];
  documentation: { content: string };
}

const read = <T>(pattern: string) =>
  new Map(globSync(pattern).map((file) => [basename(file, ".yaml"), parse(readFileSync(file, "utf8")) as T]));
const metrics = read<Metric>("ops/metrics/*.yaml");
const policies = read<Policy>("ops/policies/*.yaml");
const document = readFileSync("docs/operations.md", "utf8");

/** Calls of the log at warning and above, and the text of their message if it is written there. */
const calls = globSync("functions/src/**/*.ts")
  .filter((file) => !/\.test\.ts$|\/log\.ts$/.test(file))
  .flatMap((file) =>
    [
      ...readFileSync(file, "utf8").matchAll(/(?:\blogError|logger\.(?:warn|error))\(\s*("(?:[^"\\]|\\.)*"|[^,)]*)/g),
    ].map(([, argument = ""]) => ({ file: basename(file), argument })),
  );
/** The messages of the calls that name a variable. */
const NAMED: Readonly<Record<string, readonly RegExp[]>> = {
  "aggregate.ts": [/const message =\s*("[^"]+");/],
  "measure.ts": [/\bmissing:\s*("[^"]+")/, /\bincomplete:\s*("[^"]+")/, /\bslow:\s*("[^"]+")/],
};
const logged = calls.flatMap(({ file, argument }) =>
  argument.startsWith('"')
    ? [JSON.parse(argument) as string]
    : (NAMED[file] ?? []).map((pattern) => {
        const [, text] = pattern.exec(readFileSync(`functions/src/counter/${file}`, "utf8")) ?? [];
        return JSON.parse(text ?? `"${file} has no ${pattern}"`) as string;
      }),
);
const filtered = (filter: string) =>
  [...filter.matchAll(/jsonPayload\.message="([^"]+)"/g)].map(([, text]) => text ?? "");

describe("the log-based metrics", () => {
  test("have each message that the functions log as a warning or an error, once, and no other", () => {
    expect(calls.filter(({ file, argument }) => !argument.startsWith('"') && !NAMED[file])).toEqual([]);
    expect(logged.length).toBeGreaterThan(10);
    expect([...metrics.values()].flatMap(({ filter }) => filtered(filter)).sort()).toEqual([...logged].sort());
  });

  test.each([...metrics])("%s counts messages, and extracts what its labels say", (_name, metric) => {
    const { labels } = metric.metricDescriptor;
    const descriptor = { metricKind: "DELTA", valueType: "INT64", unit: "1", ...(labels && { labels }) };
    const extractors = labels && {
      labelExtractors: Object.fromEntries(
        labels.map(({ key }) => [key, expect.stringMatching(/^EXTRACT\(jsonPayload\.\w+\)$/)]),
      ),
    };
    expect(metric).toEqual({
      description: expect.toSatisfy((text: string) => text.length > 0 && text.length < 8_000),
      filter: expect.stringMatching(/^resource\.type=\("cloud_run_revision" OR "cloud_function"\) AND /),
      metricDescriptor: descriptor,
      ...extractors,
    });
    expect(metric.filter.split("(").length).toBe(metric.filter.split(")").length);
  });

  test("have a label only if each of their messages is logged with it", () => {
    const sources = globSync("functions/src/**/*.ts")
      .map((file) => readFileSync(file, "utf8"))
      .join("\n");
    for (const [name, { filter, labelExtractors }] of metrics)
      if (labelExtractors && name !== "tally-errors")
        for (const message of filtered(filter)) {
          const at = sources.indexOf(JSON.stringify(message));
          expect(sources.slice(at - 400, at + 300), name).toMatch(/\bcounter\b/);
        }
  });
});

describe("the alert policies", () => {
  /** Google's metrics in the filters, and what they are measured on. */
  const METRICS: Readonly<Record<string, string>> = {
    "pubsub.googleapis.com/subscription/oldest_unacked_message_age": "pubsub_subscription",
    "cloudtasks.googleapis.com/queue/task_attempt_delays": "cloud_tasks_queue",
    "run.googleapis.com/request_count": "cloud_run_revision",
    "firestore.googleapis.com/api/request_count": "firestore.googleapis.com/Database",
    "firestore.googleapis.com/document/write_ops_count": "firestore.googleapis.com/Database",
  };
  const conditions = [...policies].flatMap(([name, { conditions }]) => conditions.map((one) => [name, one] as const));

  test.each(conditions)("%s has conditions of the documented shape", (_name, condition) => {
    const { filter, aggregations } = condition.conditionThreshold;
    const [, metric = ""] = /^metric\.type="([^"]+)"/.exec(filter) ?? [];
    const [, own] = /^logging\.googleapis\.com\/user\/(.*)$/.exec(metric) ?? [];
    if (own) expect([...metrics.keys()]).toContain(own);
    expect(filter).toContain(`AND resource.type="${own ? "cloud_run_revision" : METRICS[metric]}"`);
    const [{ groupByFields = undefined } = {}] = aggregations;
    const reduced = { crossSeriesReducer: "REDUCE_SUM", ...(groupByFields && { groupByFields }) };
    expect(condition).toEqual({
      displayName: expect.stringMatching(/./),
      conditionThreshold: {
        filter,
        comparison: "COMPARISON_GT",
        thresholdValue: expect.any(Number),
        // Whole minutes.
        duration: expect.toSatisfy((text: string) => Number(/^(\d+)s$/.exec(text)?.[1]) % 60 === 0),
        aggregations: [
          {
            alignmentPeriod: expect.stringMatching(/^([6-9]\d|\d{3,})s$/),
            perSeriesAligner: expect.stringMatching(/^ALIGN_(DELTA|RATE|MAX|PERCENTILE_99)$/),
            ...("crossSeriesReducer" in (aggregations[0] ?? {}) || groupByFields ? reduced : {}),
          },
        ],
      },
    });
    const label = /^metric\.label\.(\w+)$/.exec(groupByFields?.[0] ?? "")?.[1];
    if (label) expect(Object.keys(metrics.get(own ?? "")?.labelExtractors ?? {})).toContain(label);
  });

  test.each([...policies])("%s is named, links its section, and ends by itself", (_name, policy) => {
    expect(policy).toEqual({
      displayName: expect.stringMatching(/^Tally: /),
      combiner: "OR",
      conditions: policy.conditions,
      documentation: { mimeType: "text/markdown", content: policy.documentation.content },
      // Half an hour at least.
      alertStrategy: { autoClose: expect.toSatisfy((text: string) => Number(/^(\d+)s$/.exec(text)?.[1]) >= 1_800) },
    });
    expect(sections).toContain(
      / https:\/\/github\.com\/[\w/-]+\/docs\/operations\.md#([\w-]+)$/.exec(policy.documentation.content)?.[1],
    );
  });

  test("use each log-based metric", () => {
    const used = conditions.map(([, { conditionThreshold }]) => conditionThreshold.filter).join();
    for (const name of metrics.keys()) expect(used).toContain(`/user/${name}"`);
  });

  test("name services of the functions that exist", () => {
    const [, names = ""] =
      /full_match\("\(\.\*-\)\?\(([^)]*)\)"\)/.exec(
        policies.get("errors")?.conditions[1]?.conditionThreshold.filter ?? "",
      ) ?? [];
    expect(names.split("|").sort()).toEqual([...FUNCTIONS.keys()].sort());
  });
});

const sections = [...document.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) =>
  heading.toLowerCase().replaceAll(" ", "-"),
);

describe("docs/operations.md", () => {
  test("has a section for each alarm, one for the first look and one for regions", () => {
    const linked = [...policies.values()].map(({ documentation }) => documentation.content.replace(/.*#/, ""));
    expect([...linked, "the-first-look", "regions"].sort()).toEqual([...sections].sort());
  });

  test("says what to do about each error", () => {
    for (const message of filtered(metrics.get("tally-errors")?.filter ?? ""))
      expect(document).toContain(`\`${message}\``);
  });

  test("names commands that docs/cli.md has", () => {
    const commands = [...document.matchAll(/npx firestore-tally (\w+)/g)].map(([, command]) => command);
    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) expect(readFileSync("docs/cli.md", "utf8")).toContain(`\n## ${command}\n`);
  });
});
