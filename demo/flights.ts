/**
 * Replays US flights through the client SDK: one increment of `departures:<origin>` per flight, from several clients. Then
 * compares every total with the exact group-by of the file, and shows the busiest airports.
 *
 *     npm start                      500 flights from the ten busiest airports; then the emulators stay up until Ctrl-C
 *     npm start -- --flights 20000   all flights; fewer are the first ones of the file, from all airports
 *     npm start -- --once            ends after the table
 */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { SingleBar } from "cli-progress";
import Table from "cli-table3";
import type { FirestoreError } from "firebase/firestore";
import { type CounterSnapshot, counter, getCounter, incrementCounter, onCounter } from "firestore-tally";
import { type Client, client } from "../testkit/clients.ts";
import { triggerSweep } from "../testkit/deployedFunctions.ts";
import { addOperator, OPERATOR } from "./operator.ts";
import { openTicketSale } from "./ticketSale.ts";
import { IN_FLIGHT_PER_CLIENT, serveHelpRequests } from "./trafficHelper.ts";

const CLIENTS = 20;
/** Clients start one after the other, so that the page shows how the totals begin to grow. */
const CLIENT_START_INTERVAL_MS = 250;
/** The replay pauses when so many increments are not in the totals yet, so that the page always has something to show. */
const MAX_AHEAD = 500;
/** How long the last totals may take before the demonstration has failed. */
const TOTALS_TIMEOUT_MS = 60_000;
/** More often than in production, as shards are folded sooner here. */
const SWEEP_INTERVAL_MS = 60_000;
/** Few enough for a first look: the table comes within half a minute. */
const DEFAULT_FLIGHTS = 500;
const LISTED_AIRPORTS = 10;

interface Flight {
  readonly origin: string;
}

interface Airport {
  /** Departures in the file. */
  readonly expected: number;
  /** When the last departure was acknowledged, and when the watcher received the latest total. */
  acknowledgedAt: number;
  receivedAt: number;
  snapshot?: CounterSnapshot;
}

const { values: options } = parseArgs({
  options: { once: { type: "boolean" }, flights: { type: "string" } },
});
const file = join(findPackageJSON("vega-datasets", import.meta.url) as string, "../data/flights-20k.json");
const flights = selectFlights(JSON.parse(readFileSync(file, "utf8")), options.flights);
const airports = new Map<string, Airport>();
for (const [origin, expected] of departures(flights)) {
  airports.set(origin, { expected, acknowledgedAt: Number.NaN, receivedAt: Number.NaN });
}

const { TALLY_HOSTING_HOST: page, FIREBASE_AUTH_EMULATOR_HOST: auth } = process.env;
if (!options.once) console.log(`Watch it live: http://${page}/#/dashboard`);

const watcher = client();
const clients = Array.from({ length: CLIENTS }, () => client());
await watchAll();
const took = await replay();
const wrong = await awaitTotals();
report(took);
if (wrong.length > 0) {
  console.error(`\n${wrong.length} totals differ from the file:\n${wrong.join("\n")}`);
  process.exit(1);
}
console.log(`\nAll ${airports.size} totals equal the group-by of the file: ${flights.length} flights, exact.`);
if (options.once) process.exit(0);
await addOperator();
const closeTicketSale = await openTicketSale();
serveHelpRequests(watcher, clients);
stayUp();

function selectFlights(all: readonly Flight[], count: string | undefined): readonly Flight[] {
  if (count !== undefined) return all.slice(0, Number(count));
  const busiest = new Set([...departures(all).keys()].slice(0, LISTED_AIRPORTS));
  return all.filter(({ origin }) => busiest.has(origin)).slice(0, DEFAULT_FLIGHTS);
}

/** The exact group-by: flights by airport, the busiest first. */
function departures(flights: readonly Flight[]): Map<string, number> {
  const groups = [...Map.groupBy(flights, ({ origin }) => origin)];
  return new Map(groups.map(([origin, { length }]) => [origin, length] as const).sort(([, a], [, b]) => b - a));
}

/** Resolves when every counter is watched. Before the replay none of them exists. */
async function watchAll(): Promise<void> {
  const watched = [...airports.keys()].map(
    (origin) =>
      new Promise<void>((resolve, reject) => {
        const next = (snapshot: CounterSnapshot) => {
          receive(origin, snapshot);
          resolve();
        };
        onCounter(counter(watcher.db, `departures:${origin}`), { next, error: reject });
      }),
  );
  await Promise.all(watched);
}

function receive(origin: string, snapshot: CounterSnapshot): void {
  const airport = airports.get(origin) as Airport;
  if (snapshot.total !== airport.snapshot?.total) airport.receivedAt = performance.now();
  airport.snapshot = snapshot;
}

/** @returns its duration in milliseconds */
async function replay(): Promise<number> {
  const bar = progressBar("Replaying flights {bar} {value}/{total} · {perSecond}/s · {visible} visible in the totals");
  const start = performance.now();
  bar.start(flights.length, 0, { perSecond: 0, visible: 0 });
  let next = 0;
  let done = 0;
  const visible = () => [...airports.values()].reduce((sum, { snapshot }) => sum + (snapshot?.total ?? 0), 0);
  const update = () => {
    const perSecond = Math.round(done / ((performance.now() - start) / 1_000));
    bar.update(done, { perSecond, visible: visible() });
  };
  const sendFlights = async ({ db }: Client) => {
    for (let flight = flights[next++]; flight; flight = flights[next++]) {
      // At most 2 s: under load the emulator's watches sometimes miss a change.
      for (let pause = 0; pause < 10 && done - visible() > MAX_AHEAD; pause++) await sleep(200);
      await incrementCounter(counter(db, `departures:${flight.origin}`));
      (airports.get(flight.origin) as Airport).acknowledgedAt = performance.now();
      done++;
    }
  };
  const timer = setInterval(update, 500);
  const sending: Promise<void>[] = [];
  for (const one of clients) {
    if (next >= flights.length) break;
    sending.push(...Array.from({ length: IN_FLIGHT_PER_CLIENT }, () => sendFlights(one)));
    await sleep(CLIENT_START_INTERVAL_MS);
  }
  await Promise.all(sending);
  clearInterval(timer);
  update();
  bar.stop();
  return performance.now() - start;
}

/**
 * Waits until every total is exact. Under load the emulator's watches sometimes miss a change, which production's do not;
 * so a counter that seems to be behind is also read.
 *
 * @returns a line for each total that is still wrong after the timeout
 */
async function awaitTotals(): Promise<string[]> {
  const reader = clients[0] as Client;
  const bar = progressBar("The last totals   {bar} {value}/{total} airports exact");
  bar.start(airports.size, 0);
  const deadline = performance.now() + TOTALS_TIMEOUT_MS;
  for (;;) {
    const behind = [...airports].filter(([, { snapshot, expected }]) => snapshot?.total !== expected);
    bar.update(airports.size - behind.length);
    if (behind.length === 0 || performance.now() > deadline) {
      bar.stop();
      return behind.map(([origin, { snapshot, expected }]) => {
        return `  ${origin}: ${snapshot?.total} counted, ${expected} in the file`;
      });
    }
    await sleep(1_000);
    await Promise.all(
      behind.map(async ([origin]) => {
        const snapshot = await getCounter(counter(reader.db, `departures:${origin}`)).catch(ifUnavailable);
        if (snapshot) receive(origin, snapshot);
      }),
    );
  }
}

/** On a busy machine the SDK gives up a read after ten seconds without an answer. The next round repeats it. */
function ifUnavailable(error: FirestoreError): undefined {
  if (error.code !== "unavailable") throw error;
}

function progressBar(format: string): SingleBar {
  return new SingleBar({ format, barsize: 30, hideCursor: true, noTTYOutput: true, notTTYSchedule: 5_000 });
}

function report(took: number): void {
  const perSecond = Math.round(flights.length / (took / 1_000));
  console.log(`\n${flights.length} increments in ${(took / 1_000).toFixed(1)} s, ${perSecond}/s.`);
  const table = new Table({
    head: ["airport", "departures", "in the file", "shards", "fresh after"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const [origin, airport] of [...airports].slice(0, LISTED_AIRPORTS)) {
    const { expected, snapshot, acknowledgedAt, receivedAt } = airport;
    const fresh = Math.max(receivedAt - acknowledgedAt, 0) / 1_000;
    table.push([origin, snapshot?.total ?? 0, expected, snapshot?.shardCount ?? 1, `${fresh.toFixed(2)} s`]);
  }
  console.log(table.toString());
  console.log("fresh after: from the last acknowledged increment until a watcher received the total that includes it.");
}

function stayUp(): void {
  const { FIRESTORE_EMULATOR_HOST: firestore, GCLOUD_PROJECT: project, TALLY_FUNCTIONS_HOST: functions } = process.env;
  console.log(`
The emulators stay up, with the functions loaded, until you press Ctrl-C:
  Firestore  ${firestore} (project ${project})
  Auth       ${auth}
  Functions  ${functions}
Read a counter:
  curl 'http://${firestore}/v1/projects/${project}/databases/(default)/documents/counters/departures:ATL'
The page shows all counters and counts your visit, too. Traffic that you request there and one browser cannot send comes
from the clients here. The operator's account is ${OPERATOR.email}, password ${OPERATOR.password}:
  http://${page}/`);
  // The emulator does not run scheduled functions.
  const sweeps = setInterval(() => triggerSweep().catch(console.error), SWEEP_INTERVAL_MS);
  process.once("SIGINT", () => {
    clearInterval(sweeps);
    closeTicketSale();
    console.log("\nStopping the emulators…");
    process.exit(0);
  });
}
