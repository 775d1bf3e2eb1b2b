/** A report as text: what exists after the deployment, then what looks wrong. */

import { pluralize } from "../../cli/src/format.ts";
import { paint } from "../../cli/src/output.ts";
import { bulletList, table } from "../../cli/src/table.ts";
import type { Report } from "./rehearsal.ts";

/** What a rehearsal cannot show. Each report tells it. */
const NOT_SHOWN = [
  "permissions of your user, and of service accounts you created",
  "rules: whether they compile, but for brackets and statements",
  "builds: whether Cloud Build can install and start the functions",
  "delays: of builds, indexes, new accounts and newly enabled APIs",
  "quotas",
  "what your project has already, such as the indexes that --force would delete",
] as const;

export function reportText(report: Report): string {
  const { functions, changes, problems, exitCode, seconds } = report;
  const rows = functions.map(({ name, region, memory, instances, trigger }) => [
    name,
    region,
    memory,
    instances,
    trigger,
  ]);
  const accounts = [...Map.groupBy(functions, ({ account }) => account)];
  const runtimes = [...new Set(functions.map(({ runtime }) => runtime))].join(", ");
  const { created, updated, deleted } = changes;
  const lists = {
    accounts: accounts.map(([account, those]) => `${account}: ${pluralize(those.length, "function")}`),
    "new accounts": report.createdAccounts,
    "new roles": report.roles,
    queues: report.queues,
    jobs: report.jobs,
    topics: report.topics,
    "public functions": report.publicFunctions,
    databases: report.databases,
    rules: report.rules,
    indexes: [
      `composite: ${report.indexes}`,
      `exemptions of fields: ${report.exemptions}`,
      `TTL policies: ${report.ttlPolicies}`,
    ],
    source: report.uploads,
    APIs: [report.apis.join(", ")],
  };
  return [
    `${pluralize(functions.length, "function")} (${runtimes}): ${created} created, ${updated} updated, ${deleted} deleted`,
    table(
      rows,
      ["left", "left", "right", "right", "left"],
      ["function", "region", "memory", "instances", "started by"],
    ),
    ...Object.entries(lists).flatMap(([title, items]) => (items.length > 0 ? [bulletList(title, items)] : [])),
    bulletList("not shown by a rehearsal", NOT_SHOWN),
    problems.length > 0 ? bulletList("problems", problems) : paint("green", "Nothing looks wrong."),
    `firebase deploy ended with code ${exitCode} after ${seconds.toFixed(0)} s`,
  ].join("\n\n");
}
