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

/** When even that is slow, asking more often would not help. */
const MOST_ASKING = 3;

let backend: Backend | undefined;
let perSecond = 0;
let underWay = 0;
let failed = 0;
let missed = 0;
let asking = 0;
let hasAsked = false;
let acknowledged: number[] = [];
let isRunning = false;

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  perSecond = data.perSecond;
  if (!("setup" in data)) return;
  backend ??= openBackend(data.setup, data.setup.firestore && "localhost");
  if (!isRunning) run(backend);
});

/** Sends until nothing is to be sent any more, and what was sent has arrived. */
function run({ db, setup }: Backend): void {
  isRunning = true;
  const ref = counter(db, TRAFFIC);
  const help = setup.firestore && counter(db, HELP.counter);
  const stopWatch = onCounter(
    ref,
    () => {},
    () => {},
    { optimistic: false },
  );
  let pace: Pace = { owed: 1, at: performance.now() };
  const sending = setInterval(() => {
    const next = due(pace, perSecond, performance.now());
    pace = next.pace;
    const possible = Math.min(next.begin, MOST_UNDER_WAY - underWay);
    for (let n = 0; n < possible; n++) send(ref);
    missed += next.begin - possible;
    if (help && missed >= HELP.each && asking < MOST_ASKING) ask(help);
    missed %= HELP.each;
  }, TICK_MS);
  const reporting = setInterval(() => {
    const report: Report = { acknowledged, failed, hasAsked, underWay };
    acknowledged = [];
    failed = 0;
    hasAsked = false;
    postMessage(report);
    if (perSecond > 0 || underWay > 0) return;
    clearInterval(sending);
    clearInterval(reporting);
    stopWatch();
    isRunning = false;
  }, REPORT_MS);
}

async function ask(help: CounterRef): Promise<void> {
  asking++;
  hasAsked = true;
  await incrementCounter(help).catch(() => {});
  asking--;
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
