/**
 * `watch`: the total of one counter, live, until Ctrl-C. On a terminal one line that is rewritten; else a line for each change.
 *
 * A listener of the server SDK reconnects by itself and does not say that it is disconnected. So after a while without a change, one read
 * tells whether Firestore answers. Cost: 1 read, 1 per change, and 1 per 30 s without one.
 */
import { once } from "node:events";
import { counterDoc } from "../../admin/src/internal.ts";
import { type CounterWindows, toSnapshot } from "../../core/src/index.ts";
import { withTimeout } from "../../firestore/src/index.ts";
import type { CommandContext } from "./commandContext.ts";
import { describeTarget } from "./databaseTarget.ts";
import { millis } from "./doctor/sampleCounters.ts";
import { escapeControls } from "./escape.ts";
import { pluralize } from "./format.ts";
import { type LiveText, liveText } from "./liveText.ts";
import { paint, print, printJsonLine, printStatus, printText } from "./output.ts";
import { describeProblem, isSilent, type Problem, partsOf, problemOf, toJson, type WatchedCounter } from "./watched.ts";
import { clamp, columnsOf, fill, wrap } from "./wrap.ts";

const REFRESH_MS = 1_000;

/** Of the read that tells whether Firestore answers. */
const TIMEOUT_MS = 10_000;

export async function watch({ ref, target, json }: CommandContext, _: unknown, id: string): Promise<void> {
  const document = counterDoc(ref(id));
  if (!json) printText(paint("dim", describeTarget(target)));
  const text = !json && process.stdout.isTTY ? liveText(process.stdout) : undefined;
  const show = text
    ? showIn(text, id)
    : changesOnly((...state) => (json ? printJsonLine(toJson(id, ...state)) : print(lineOf(id, ...state))));

  const interrupted = once(process, "SIGINT");
  let watched: WatchedCounter | null = null;
  let answeredAt = Date.now();
  let askedAt: number | null = answeredAt;
  let isAsking = false;
  let reads = 0;
  // By how much the server's clock is ahead: the functions' times are the server's. Network delay only lowers an
  // estimate, so the largest is kept.
  let serverLeadMillis = Number.NEGATIVE_INFINITY;

  const update = (isNew: boolean) => {
    const now = Date.now() + (Number.isFinite(serverLeadMillis) ? serverLeadMillis : 0);
    const waited = askedAt === null ? 0 : Date.now() - askedAt;
    show(isNew, watched, problemOf(watched, waited, now), now);
  };
  const onAnswer = () => {
    answeredAt = Date.now();
    askedAt = null;
    reads++;
  };
  const ask = async () => {
    askedAt ??= Date.now();
    isAsking = true;
    await withTimeout(TIMEOUT_MS, document.get()).then(onAnswer, () => undefined);
    isAsking = false;
  };
  const refresh = setInterval(() => {
    if (isSilent(Date.now() - answeredAt) && !isAsking) void ask();
    update(false);
  }, REFRESH_MS);
  let stop = () => {};
  const failed = new Promise<never>((_, reject) => {
    stop = document.onSnapshot((snapshot) => {
      onAnswer();
      serverLeadMillis = Math.max(serverLeadMillis, snapshot.readTime.toMillis() - answeredAt);
      watched = watchedOf(snapshot);
      update(true);
    }, reject);
  });
  try {
    await Promise.race([interrupted, failed]);
    // Over the ^C of the terminal.
    update(false);
  } finally {
    clearInterval(refresh);
    stop();
    text?.end();
  }
  printStatus(paint("dim", `Cost: ${pluralize(reads, "read")}.`, process.stderr));
}

function watchedOf(document: FirebaseFirestore.DocumentSnapshot): WatchedCounter {
  const { total, globalTotal, rate, shardCount, asOf } = toSnapshot<FirebaseFirestore.Timestamp>(document, false, 0);
  const hasRegions = document.get("globalTotal") !== undefined;
  const windows: CounterWindows<FirebaseFirestore.Timestamp> | undefined = document.get(
    hasRegions ? "globalWindows" : "windows",
  );
  return {
    total: document.get("total") === undefined ? null : total,
    globalTotal: hasRegions ? globalTotal : null,
    windows: windows ?? null,
    rate,
    shardCount,
    isOpen: document.get("direct.open") === true,
    asOf: millis(asOf) ?? null,
    changedAt: document.updateTime?.toMillis() ?? 0,
    nextPollAt: millis(document.get("nextPollAt")) ?? null,
  };
}

/** What is known at an instant. */
type State = [watched: WatchedCounter | null, problem: Problem | null, now: number];

type Show = (isNew: boolean, ...state: State) => void;

function showIn(text: LiveText, id: string): Show {
  return (_, watched, problem, now) => {
    const width = columnsOf(process.stdout);
    const [total = "", ...others] = partsOf(watched, now);
    const name = clamp(escapeControls(id), Math.floor(width / 2));
    const lines = fill([`${name}  ${paint("bold", total)}`, ...others], width, " · ");
    const warnings = problem ? wrap(`! ${describeProblem(problem)}`, width) : [];
    text.show([...lines, ...warnings.map((line) => paint("yellow", line))]);
  };
}

/** Leaves out what differs from the last by its age alone. */
function changesOnly(printOne: (...state: State) => void): Show {
  let last: Problem["kind"] | undefined;
  return (isNew, watched, problem, now) => {
    if (!isNew && problem?.kind === last) return;
    last = problem?.kind;
    printOne(watched, problem, now);
  };
}

function lineOf(id: string, watched: WatchedCounter | null, problem: Problem | null, now: number): string {
  const parts = [...partsOf(watched, now), ...(problem ? [describeProblem(problem)] : [])];
  return `${escapeControls(id)}  ${parts.join(" · ")}`;
}
