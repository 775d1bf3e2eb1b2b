/** The query for BigQuery. SQLite reads its text, too: BigQuery has no emulator. */
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { LogRecord } from "../../functions/src/features/eventLog/outbox.ts";

const columns = JSON.parse(readFileSync("ops/eventLog.json", "utf8")) as { name: string }[];

test("the records of the event log are summed per counter and day, each of them once", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("ATTACH ':memory:' AS analytics");
  database.exec(`CREATE TABLE analytics.tally (${columns.map(({ name }) => `\`${name}\``)})`);
  const insert = database.prepare(`INSERT INTO analytics.tally VALUES (${columns.map(({ name }) => `$${name}`)})`);
  const add = (record: Partial<LogRecord>) =>
    insert.run(Object.fromEntries(columns.map(({ name }) => [name, record[name as keyof LogRecord] ?? null])));
  const view = { version: 1, kind: "event", counter: "views:home" } as const;
  for (const at of ["2027-01-31T00:00:00.000Z", "2027-01-31T23:59:59.999Z", "2027-02-01T00:00:00.000Z"])
    for (let n = 0; n < 2; n++) add({ ...view, id: at, by: 2, at });
  const like = { version: 1, counter: "likes:a", once: "ada", at: "2027-02-01T10:00:00.125Z" } as const;
  add({ ...like, id: "created likes:a/ada 1.0", kind: "created", by: 1 });
  add({ ...like, id: "deleted likes:a/ada 1.0", kind: "deleted", by: -1 });
  add({ ...like, id: "created likes:a/ada 2.0", kind: "created", by: 1 });
  const rows = database.prepare(readFileSync("examples/bigquery/perDay.sql", "utf8")).all();
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { day: "2027-01-31", counter: "views:home", counted: 4 },
    { day: "2027-02-01", counter: "likes:a", counted: 1 },
    { day: "2027-02-01", counter: "views:home", counted: 2 },
  ]);
});
