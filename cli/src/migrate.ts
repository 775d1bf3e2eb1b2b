/**
 * `migrate`: moves what Google's counter has counted into counters, and what is still in its legacy shards.
 *
 * Documents are moved one by one (firestore/src/moveLegacyIncrements.ts): what a field has beyond the part that comes from its
 * counter. So the command may be interrupted and repeated, while apps count and while Google's counter runs.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Mirror, mirrorSources, parseMirrors } from "../../core/src/index.ts";
import { PRICES, priceOf } from "../../costs/src/index.ts";
import { type Moved, mirroredOf, moveLegacyIncrements } from "../../firestore/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { CommandError, WRONG_USAGE } from "./commandError.ts";
import { confirm } from "./confirm.ts";
import { describeTarget } from "./databaseTarget.ts";
import { escapeControls } from "./escape.ts";
import { forEachItem, type Run, succeeded, throwIfIncomplete } from "./forEachItem.ts";
import { formatDollars, formatNumber, formatWhole, pluralize } from "./format.ts";
import { interruptible } from "./interruptible.ts";
import { documentsToMove, type LeftAlone, survey } from "./legacyDocuments.ts";
import { paint, print, printJson, printStatus, printText } from "./output.ts";
import { rollBack } from "./rollBack.ts";
import { bulletList, table } from "./table.ts";

export interface MigrateOptions {
  readonly map?: readonly string[];
  readonly dryRun?: boolean;
  readonly rollback?: boolean;
  /** The path of a document. */
  readonly after?: string;
}

type Survey = Awaited<ReturnType<typeof survey>>;

/** How long the functions may take to publish the last counter. */
const PUBLISH_TIMEOUT_MS = 15_000;

/** How many documents that were left alone are listed. */
const LISTED = 10;

export async function migrate(context: CommandContext, options: MigrateOptions): Promise<void> {
  const { dryRun = false, rollback = false, after } = options;
  const mirrors = parseMaps(options.map ?? []);
  if (rollback) {
    if (dryRun) throw new CommandError(WRONG_USAGE, "--dry-run shows what would be moved; leave out one of them");
    return await rollBack(context, mirrors, after);
  }
  const found = await survey(context.firestore, mirrors);
  if (dryRun) {
    if (context.json) printJson({ ...context.target, dryRun, ...found, cost: costOf(found) });
    else printSurvey(context, found);
    return;
  }
  await confirm(context, {
    action: `Move the totals of ${found.maps.map(({ field }) => field).join(" and ")}`,
    size: async () => describeCost(found),
  });
  const leftAlone: LeftAlone = { documents: [], moreDocuments: 0, fields: new Map() };
  const run = await moveAll(context, mirrors, found, after, leftAlone);
  // Abandoned work goes on until the process ends, so after an early end nothing is waited for.
  const isPublished = run.endedBy
    ? null
    : await interruptible(() => waitForPublish(context, mirrors, run)).catch(() => null);
  if (context.json) {
    const left = { ...leftAlone, fields: Object.fromEntries(leftAlone.fields) };
    printJson({ ...context.target, dryRun, after: run.after ?? null, isPublished, leftAlone: left, ...summaryOf(run) });
  } else printMoved(run, leftAlone, mirrors, isPublished);
  throwIfIncomplete(run);
}

/** @throws CommandError if a map is missing; CounterError `counter/invalid-config` if one is not valid */
function parseMaps(maps: readonly string[]): readonly Mirror[] {
  if (maps.length === 0) {
    throw new CommandError(WRONG_USAGE, 'name a field and its counters: --map "pages/{page}.visits=views:{page}"');
  }
  return parseMirrors(maps.join(","), "--map");
}

type MovedDocument = Pick<Moved, "shards"> & { readonly counters: Readonly<Record<string, number>> };

async function moveAll(
  { firestore, target }: CommandContext,
  mirrors: readonly Mirror[],
  { maps, legacyShards }: Survey,
  after: string | undefined,
  leftAlone: LeftAlone,
): Promise<Run<MovedDocument>> {
  let amount = 0;
  const count = maps.reduce((sum, { documents, numbers }) => sum + (numbers ?? documents), 0) + legacyShards;
  const ids = (madeProgress: () => void) => documentsToMove(firestore, mirrors, after, leftAlone, madeProgress);
  return await forEachItem(
    { noun: "document", ids, count, after },
    {
      label: "Moving",
      work: async (document) => {
        const fields = mirrorSources(document, mirrors);
        const { amounts, shards } = await moveLegacyIncrements(firestore, target.collection, document, fields);
        amount += amounts.reduce((sum, one) => sum + one, 0);
        return { shards, counters: Object.fromEntries(fields.map(({ counterId }, n) => [counterId, amounts[n] ?? 0])) };
      },
      detail: () => `${formatWhole(amount)} moved`,
    },
  );
}

/** Whether the functions have published the counter that was moved to last; `null` if nothing was moved. */
async function waitForPublish(
  { ref, firestore }: CommandContext,
  mirrors: readonly Mirror[],
  run: Run<MovedDocument>,
): Promise<boolean | null> {
  const moved = run.outcomes.filter(succeeded).findLast(({ counters }) => Object.values(counters).some(Boolean));
  const source = moved && mirrorSources(moved.id, mirrors).find(({ counterId }) => moved.counters[counterId]);
  if (!source) return null;
  const field = { document: moved.id, field: source.field };
  for (const end = Date.now() + PUBLISH_TIMEOUT_MS; Date.now() < end; await sleep(1_000)) {
    const counter = await firestore.doc(ref(source.counterId).path).get();
    if (counter.get("asOf") !== undefined && counter.get("total") === mirroredOf(counter, field)) return true;
  }
  return false;
}

function summaryOf({ outcomes }: Run<MovedDocument>) {
  const moved = outcomes.filter(succeeded);
  const amounts = moved.flatMap(({ counters }) => Object.values(counters)).filter((amount) => amount !== 0);
  return {
    documents: new Set(moved.map(({ id }) => id)).size,
    counters: amounts.length,
    total: amounts.reduce((sum, amount) => sum + amount, 0),
    shards: moved.reduce((sum, { shards }) => sum + shards, 0),
  };
}

/** What the move costs, and the publishes that follow, without the legacy shards. */
function costOf({ maps }: Survey) {
  const documents = maps.reduce((sum, one) => sum + one.documents, 0);
  const counters = maps.reduce((sum, one) => sum + (one.numbers ?? one.documents), 0);
  const operations = { read: documents + 3 * counters, write: 3 * counters };
  const publishes = { read: 2 * counters, write: counters, invocation: counters };
  return { ...operations, dollars: priceOf(operations, PRICES.nam5) + priceOf(publishes, PRICES.nam5) };
}

function describeCost(found: Survey): string {
  const { read, write, dollars } = costOf(found);
  const operations = `${pluralize(read, "read")} and ${pluralize(write, "write")}`;
  return `about ${operations}; with the publishes that follow, ${formatDollars(dollars && Math.max(dollars, 0.01))} in nam5`;
}

function printSurvey({ target }: CommandContext, found: Survey): void {
  printStatus(`Looking in the ${describeTarget(target)}. Nothing is written.`);
  const rows = found.maps.map(({ field, counters, documents, numbers, total }) => [
    escapeControls(field),
    escapeControls(counters),
    formatWhole(documents),
    numbers === null ? "–" : formatWhole(numbers),
    total === null ? "–" : formatNumber(total),
  ]);
  const head = ["field", "counters", "documents", "with a number", "sum"];
  print(table(rows, ["id", "id", "right", "right", "right"], head));
  print("What the counters have already is not moved again.");
  printText(`${pluralize(found.legacyShards, "document")} in _counter_shards_, not added to the fields yet.`);
  for (const { field } of found.maps.filter(({ documents }) => documents === 0)) {
    printText(`${paint("yellow", "!")} There is no document of ${escapeControls(field)}: check the path.`);
  }
  printText(paint("dim", `Cost: ${describeCost(found)}.`));
}

function printMoved(
  run: Run<MovedDocument>,
  leftAlone: LeftAlone,
  mirrors: readonly Mirror[],
  isPublished: boolean | null,
): void {
  const { documents, counters, total, shards } = summaryOf(run);
  const from = `${pluralize(documents, "document")}, with ${pluralize(shards, "document")} of _counter_shards_`;
  printText(`${formatNumber(total)} moved to ${pluralize(counters, "counter")}, from ${from}.`);
  const unlisted = leftAlone.documents.length - LISTED + leftAlone.moreDocuments;
  const left = [
    ...leftAlone.documents
      .slice(0, LISTED)
      .map(({ document, reason }) => `${escapeControls(document)}: ${escapeControls(reason)}`),
    ...(unlisted > 0 ? [pluralize(unlisted, "more document")] : []),
    ...[...leftAlone.fields].map(
      ([field, count]) =>
        `${escapeControls(field)}: no map names it, in ${pluralize(count, "document")} of _counter_shards_`,
    ),
  ];
  if (left.length > 0) print(`\n${bulletList("left alone", left)}`);
  if (isPublished === false) {
    const bridge = mirrors.map(({ counters: ids, document, field }) => `${ids}=${document}.${field.join(".")}`);
    const advice = "The functions have not published the last of them. Deploy them with this parameter:";
    printText(`\n${paint("yellow", "!")} ${advice}\n  BRIDGE=${bridge.join(",")}`);
  }
}
