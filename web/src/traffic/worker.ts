/**
 * Sends increments at a steady rate, from a Firestore client of its own, as another device would. A worker keeps the page
 * responsive. It watches the counter, so it learns of new shards at once.
 */
import { type CounterRef, counter, incrementCounter, onCounter } from "firestore-tally";
import { type Connection, openConnection } from "../firebase/connection.ts";
import { HELP_REQUESTS, TRAFFIC } from "./demoCounters.ts";
import type { TrafficCommand, TrafficReport } from "./messages.ts";
import { type SteadyRate, takeDue } from "./steadyRate.ts";

const TICK_MS = 20;
const REPORT_MS = 200;

/**
 * The limit of unacknowledged increments. Beyond it the connection is the bottleneck, and a longer queue would not help;
 * with the emulator, `npm start` is asked to send the rest.
 */
const MAX_IN_FLIGHT = 30;

/** The limit of pending requests for help. If they are slow, too, more of them would not help. */
const MAX_REQUESTS = 3;

let connection: Connection | undefined;
let perSecond = 0;
let inFlight = 0;
let failed = 0;
let unsent = 0;
let requests = 0;
let helpRequested = 0;
let acknowledged: number[] = [];
let isRunning = false;

addEventListener("message", ({ data }: MessageEvent<TrafficCommand>) => {
  perSecond = data.perSecond;
  if (!("setup" in data)) return;
  connection ??= openConnection(data.setup, data.setup.firestore && "localhost");
  if (!isRunning) run(connection);
});

/** Sends until the rate is 0 and every increment has an outcome. */
function run({ db, setup }: Connection): void {
  isRunning = true;
  const ref = counter(db, TRAFFIC);
  const helpRef = setup.firestore && counter(db, HELP_REQUESTS.counter);
  const stopWatch = onCounter(ref, { next() {}, error() {} }, { optimistic: false });
  let rate: SteadyRate = { fraction: 1, at: performance.now() };
  const sending = setInterval(() => {
    const { count, state } = takeDue(rate, perSecond, performance.now());
    rate = state;
    const possible = Math.min(count, MAX_IN_FLIGHT - inFlight);
    for (let n = 0; n < possible; n++) send(ref);
    unsent += count - possible;
    if (helpRef && unsent >= HELP_REQUESTS.incrementsPerRequest && requests < MAX_REQUESTS) requestHelp(helpRef);
    unsent %= HELP_REQUESTS.incrementsPerRequest;
  }, TICK_MS);
  const reporting = setInterval(() => {
    const report: TrafficReport = { acknowledged, failed, helpRequested, inFlight };
    acknowledged = [];
    failed = 0;
    helpRequested = 0;
    postMessage(report);
    if (perSecond > 0 || inFlight > 0) return;
    clearInterval(sending);
    clearInterval(reporting);
    stopWatch();
    isRunning = false;
  }, REPORT_MS);
}

async function requestHelp(ref: CounterRef): Promise<void> {
  requests++;
  const { incrementsPerRequest } = HELP_REQUESTS;
  await incrementCounter(ref).then(
    () => {
      helpRequested += incrementsPerRequest;
    },
    () => {},
  );
  requests--;
}

async function send(ref: CounterRef): Promise<void> {
  inFlight++;
  try {
    await incrementCounter(ref);
    acknowledged.push(Date.now());
  } catch {
    failed++;
  }
  inFlight--;
}
