/**
 * Sends increments at a steady rate, with a Firestore client of its own, as another device would. A worker, so that the
 * page stays quick. It watches the counter, which is how a busy writer learns of new shards at once.
 */
import { type CounterRef, counter, incrementCounter, onCounter } from "firestore-tally";
import { type Backend, openBackend } from "../firebase/backend.ts";
import { HELP, TRAFFIC } from "./counters.ts";
import type { Order, Report } from "./messages.ts";
import { due, type Pace } from "./pace.ts";

const TICK_MS = 20;
const REPORT_MS = 200;

/**
 * More than this the browser does not send: then the connection is what limits it, and a longer queue would not help. Beside
 * the emulator, `npm start` is asked for the rest.
 */
const MOST_UNDER_WAY = 30;

let backend: Backend | undefined;
let perSecond = 0;
let underWay = 0;
let failed = 0;
let missed = 0;
let asked = 0;
let acknowledged: number[] = [];
let stopWatch: (() => void) | undefined;

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  backend ??= openBackend(data.setup, data.setup.firestore && "localhost");
  const ref = counter(backend.db, TRAFFIC);
  const wasIdle = perSecond === 0;
  perSecond = data.perSecond;
  stopWatch ??= onCounter(
    ref,
    () => {},
    () => {},
    { optimistic: false },
  );
  if (wasIdle && perSecond > 0) run(ref, data.setup.firestore && counter(backend.db, HELP.counter));
});

/** @param help  where to ask for what this browser cannot send */
function run(ref: CounterRef, help: CounterRef | undefined): void {
  let pace: Pace = { owed: 1, at: performance.now() };
  const sending = setInterval(() => {
    const next = due(pace, perSecond, performance.now());
    pace = next.pace;
    const possible = Math.min(next.begin, MOST_UNDER_WAY - underWay);
    for (let n = 0; n < possible; n++) send(ref);
    missed += next.begin - possible;
    if (!help || missed < HELP.each) return;
    missed -= HELP.each;
    asked += HELP.each;
    incrementCounter(help).catch(() => {});
  }, TICK_MS);
  const reporting = setInterval(() => {
    const report: Report = { acknowledged, failed, asked, underWay };
    acknowledged = [];
    failed = 0;
    asked = 0;
    postMessage(report);
    if (perSecond > 0) return;
    clearInterval(sending);
    if (underWay > 0) return;
    clearInterval(reporting);
    stopWatch?.();
    stopWatch = undefined;
  }, REPORT_MS);
}

async function send(ref: CounterRef): Promise<void> {
  underWay++;
  try {
    await incrementCounter(ref);
    acknowledged.push(Date.now());
  } catch {
    failed++;
  }
  underWay--;
}
