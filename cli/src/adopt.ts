/**
 * `adopt`: makes counters of Firebase's recipe for distributed counters, made by hand, into Tally's, while old clients go on. `--end`
 * takes back what only old clients need.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AggregateField, type Query } from "firebase-admin/firestore";
import { counterDoc } from "../../admin/src/internal.ts";
import { SHARDS, sumOrZero } from "../../core/src/index.ts";
import { PRICES, priceOf } from "../../costs/src/index.ts";
import { sumField } from "../../firestore/src/index.ts";
import { type AdoptionResult, adoptCounter, endAdoption } from "./adoptCounter.ts";
import type { AdoptionPlan } from "./adoptionPlan.ts";
import type { CommandContext } from "./commandContext.ts";
import { confirm } from "./confirm.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { forEachItem, type Run, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { formatDollars, formatNumber, pluralize } from "./format.ts";
import { interruptible } from "./interruptible.ts";
import { paint, print, printJson, printStatus, printText } from "./output.ts";
import { idsAfter } from "./selection.ts";
import { bulletList } from "./table.ts";

export interface AdoptOptions {
  readonly dryRun?: boolean;
  readonly end?: boolean;
  readonly after?: string;
}

const PAGE_SIZE = 100;
const PUBLISH_TIMEOUT_MS = 15_000;

export async function adopt(context: CommandContext, options: AdoptOptions, ids: string[]): Promise<void> {
  const { dryRun = false, end = false, after } = options;
  for (const id of ids) context.ref(id);
  const named = idsAfter(ids, after);
  const { counters, shards } = await sizeOf(context, ids);
  const action = end ? "End the adoption of" : "Adopt";
  if (dryRun) printStatus(`Looking in the ${describeTarget(context.target)}. Nothing is written.`);
  else
    await confirm(context, {
      action: `${action} ${ids.length > 0 && ids.length <= 3 ? ids.join(", ") : pluralize(counters, "counter")}`,
      size: async () => describeCost(counters, ids.length > 0 ? await shardsOf(context, ids) : shards, end),
    });
  const run = await forEachItem<AdoptionResult>(
    {
      noun: "counter",
      ids: () => adoptedIds(context, ids.length > 0 ? named : undefined, after),
      count: counters,
      after,
    },
    { label: end ? "Ending" : "Adopting", work: (id) => (end ? endAdoption : adoptCounter)(context.ref(id), dryRun) },
  );
  const isPublished =
    dryRun || run.endedBy ? null : await interruptible(() => waitForPublish(context, run)).catch(() => null);
  if (context.json)
    printJson({ ...context.target, dryRun, after: run.after ?? null, isPublished, counters: run.outcomes });
  else printRun(run, { dryRun, end, isPublished });
  throwIfIncomplete(run);
}

/** Counters with `num_shards`, also those that were never published. */
function handMade({ firestore, target }: CommandContext): Query {
  return firestore.collection(target.collection).where("num_shards", ">", 0).orderBy("num_shards");
}

/** Cost: 1 read per 1,000 counters. */
async function sizeOf(context: CommandContext, ids: readonly string[]) {
  if (ids.length > 0) return { counters: ids.length, shards: 0 };
  const sizes = { counters: AggregateField.count(), shards: sumField("num_shards") };
  const found = (await handMade(context).aggregate(sizes).get()).data();
  return { ...found, shards: sumOrZero(found.shards) };
}

/** Cost: 1 read per counter. */
async function shardsOf(context: CommandContext, ids: readonly string[]): Promise<number> {
  const counts = await Promise.all(
    ids.map(async (id) => (await counterDoc(context.ref(id)).collection(SHARDS).count().get()).data().count),
  );
  return counts.reduce((all, count) => all + count, 0);
}

/** The named counters, or else all with `num_shards`: then 1 read per counter. */
async function* adoptedIds(context: CommandContext, named: readonly string[] | undefined, after: string | undefined) {
  if (named) return yield* named;
  let last = after === undefined ? undefined : await counterDoc(context.ref(after)).get();
  // One whose adoption has ended is not in the query, nor are those before it.
  if (last?.get("num_shards") === undefined) last = undefined;
  for (;;) {
    const query = handMade(context).orderBy("__name__").select("num_shards").limit(PAGE_SIZE);
    const page = await (last ? query.startAfter(last) : query).get();
    for (const { id } of page.docs) yield id;
    if (page.size < PAGE_SIZE) return;
    last = page.docs.at(-1);
  }
}

/** Whether the functions have published the last counter that was triggered; `null` if none was. */
async function waitForPublish(context: CommandContext, run: Run<AdoptionResult>): Promise<boolean | null> {
  const triggered = run.outcomes.filter(succeeded).findLast((one) => "publishes" in one && one.publishes);
  if (!triggered) return null;
  for (const end = Date.now() + PUBLISH_TIMEOUT_MS; Date.now() < end; await sleep(500))
    if ((await counterDoc(context.ref(triggered.id)).get()).get("asOf") !== undefined) return true;
  return false;
}

/** What it costs at most, with the publishes that follow. */
function describeCost(counters: number, shards: number, end: boolean): string {
  const operations = { read: 2 * counters + shards, write: 2 * counters + (end ? 0 : shards) };
  const publishes = { read: 3 * counters, write: counters, invocation: counters };
  const dollars = priceOf(operations, PRICES.nam5) + priceOf(publishes, PRICES.nam5);
  return `at most about ${pluralize(operations.read, "read")} and ${pluralize(operations.write, "write")}; with the publishes that follow, ${formatDollars(Math.max(dollars, 0.01))} in nam5`;
}

const LISTED = 20;

function printRun(run: Run<AdoptionResult>, how: { dryRun: boolean; end: boolean; isPublished: boolean | null }): void {
  const results = run.outcomes.filter(succeeded);
  const left = results.flatMap((one) =>
    one.leftAlone === undefined ? [] : [`${escapeControls(one.id)}: ${escapeControls(one.leftAlone)}`],
  );
  const changed = results.filter(({ writes }) => writes > 0);
  const would = how.dryRun ? "would be " : "";
  print(
    `${pluralize(changed.length, "counter")} ${would}${how.end ? "ended" : "adopted"}, ${results.length - changed.length - left.length} unchanged.`,
  );
  if (!how.end) {
    const plans = changed.filter((one) => "total" in one);
    const counted = (of: (one: AdoptionPlan) => number) => plans.reduce((all, one) => all + of(one), 0);
    const completed = counted((plan) => plan.completed.length);
    const created = counted((plan) => plan.created.length);
    const published = pluralize(plans.filter(({ publishes }) => publishes).length, "total");
    const total = formatNumber(counted((plan) => plan.total));
    const shards = `${pluralize(completed, "shard")} ${would}completed, ${created} created`;
    printText(`${shards}, and ${published} published: ${total} in all.`);
  }
  const more = left.length > LISTED ? [`${left.length - LISTED} more`] : [];
  if (left.length > 0) print(`\n${bulletList("left alone", [...left.slice(0, LISTED), ...more])}`);
  const writes = results.reduce((all, one) => all + one.writes, 0);
  print(paint("dim", `${pluralize(writes, "write")}.`));
  if (how.isPublished === false)
    printText(
      `\n${paint("yellow", "!")} The functions have not published the last counter. Set ADOPTED=yes and deploy the functions.`,
    );
}
