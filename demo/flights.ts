/**
 * Replays 20,000 US flights through the client SDK as fast as the totals can follow: one increment of
 * `departures:<origin>` per flight, from many client instances. Then compares every total with the exact count, and
 * shows the busiest airports. `--once` ends there; otherwise the suite stays up until Ctrl-C. `--flights N` replays the
 * first N alone.
 */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { SingleBar } from "cli-progress";
import Table from "cli-table3";
import { type CounterSnapshot, counter, getCounter, incrementCounter, onCounter } from "firestore-tally";
import { type Client, client } from "../testkit/clients.ts";
import { triggerSweep } from "../testkit/deployedFunctions.ts";
import { helpOut, IN_FLIGHT } from "./help.ts";
import { addOperator, OPERATOR } from "./operator.ts";

const CLIENTS = 20;
/** Clients come one after the other: for a crowd at once, the emulator would start so many processes that all stand still. */
const JOIN_MS = 1_000;
/** More increments than this are not ahead of the totals, or the page would have nothing new to show. */
const MOST_AHEAD = 500;
/**
 * How long the last totals may take to appear. In the emulator a task that waits for its due time holds a process, and
 * there are more counters here than processes.
 */
const PATIENCE_MS = 180_000;
/** Oftener than in production, as shards are folded sooner. */
const SWEEP_MS = 60_000;

const file = join(findPackageJSON("vega-datasets", import.meta.url) as string, "../data/flights-20k.json");
const { values: options } = parseArgs({
  options: { once: { type: "boolean" }, flights: { type: "string", default: "20000" } },
});
const flights = (JSON.parse(readFileSync(file, "utf8")) as { origin: string }[]).slice(0, Number(options.flights));
const expected = Map.groupBy(flights, ({ origin }) => origin);

interface Airport {
  /** When the last departure was acknowledged, and when the watcher saw the total that includes it. */
  acknowledgedAt: number;
  seenAt: number;
  snapshot?: CounterSnapshot;
}
const airports = new Map<string, Airport>();

const { TALLY_HOSTING_HOST: page, FIREBASE_AUTH_EMULATOR_HOST: auth } = process.env;
if (!options.once) console.log(`Watch it at http://${page}/#/dashboard`);

const watcher = client();
const clients = Array.from({ length: CLIENTS }, () => client());
await watchAll();
const took = await replay();
const wrong = await compare();
report(took);
if (wrong.length > 0) {
  console.error(`\n${wrong.length} totals differ from the file:\n${wrong.join("\n")}`);
  process.exit(1);
}
console.log(`\nAll ${expected.size} totals equal the group-by of the file: ${flights.length} flights, exact.`);
if (options.once) process.exit(0);
await addOperator();
helpOut(watcher, clients);
stayUp();

/** Resolves when every counter is being watched: at first they do not exist. */
async function watchAll(): Promise<void> {
  const watched = [...expected.keys()].map((origin) => {
    airports.set(origin, { acknowledgedAt: Number.NaN, seenAt: Number.NaN });
    return new Promise<void>((resolve, reject) => {
      const next = (snapshot: CounterSnapshot) => {
        seen(origin, snapshot);
        resolve();
      };
      onCounter(counter(watcher.db, `departures:${origin}`), next, reject);
    });
  });
  await Promise.all(watched);
}

function seen(origin: string, snapshot: CounterSnapshot): void {
  const airport = airports.get(origin) as Airport;
  if (snapshot.total !== airport.snapshot?.total) airport.seenAt = performance.now();
  airport.snapshot = snapshot;
}

/** @returns how long it took, in milliseconds */
async function replay(): Promise<number> {
  const bar = progressBar("Replaying flights {bar} {value}/{total} · {perSecond}/s · {visible} visible in the totals");
  const start = performance.now();
  bar.start(flights.length, 0, { perSecond: 0, visible: 0 });
  let next = 0;
  let done = 0;
  const fly = async ({ db }: Client) => {
    for (let flight = flights[next++]; flight; flight = flights[next++]) {
      // Not for ever: under load the emulator's watches miss a change now and then.
      for (let patience = 10; done - visible() > MOST_AHEAD && patience > 0; patience--) await setTimeout(200);
      await incrementCounter(counter(db, `departures:${flight.origin}`));
      (airports.get(flight.origin) as Airport).acknowledgedAt = performance.now();
      done++;
      if (done % 100 === 0) bar.update(done, progress());
    }
  };
  const visible = () => [...airports.values()].reduce((sum, { snapshot }) => sum + (snapshot?.total ?? 0), 0);
  const progress = () => ({
    perSecond: Math.round(done / ((performance.now() - start) / 1_000)),
    visible: visible(),
  });
  const flying: Promise<void>[] = [];
  for (const one of clients) {
    if (next >= flights.length) break;
    flying.push(...Array.from({ length: IN_FLIGHT }, () => fly(one)));
    await setTimeout(JOIN_MS);
  }
  await Promise.all(flying);
  bar.update(done, progress());
  bar.stop();
  return performance.now() - start;
}

/**
 * Waits until every total is exact. Under load the emulator's watches miss a change now and then, which production's do
 * not; so a counter that seems to be behind is also read.
 *
 * @returns what is wrong with those that do not become exact
 */
async function compare(): Promise<string[]> {
  const reader = clients[0] as Client;
  const bar = progressBar("The last totals   {bar} {value}/{total} airports exact");
  bar.start(expected.size, 0);
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const behind = [...expected].filter(([origin, { length }]) => airports.get(origin)?.snapshot?.total !== length);
    bar.update(expected.size - behind.length);
    if (behind.length === 0 || performance.now() > deadline) {
      bar.stop();
      return behind.map(([origin, { length }]) => {
        return `  ${origin}: ${airports.get(origin)?.snapshot?.total} counted, ${length} in the file`;
      });
    }
    await setTimeout(1_000);
    await Promise.all(
      behind.map(async ([origin]) => seen(origin, await getCounter(counter(reader.db, `departures:${origin}`)))),
    );
  }
}

function progressBar(format: string): SingleBar {
  return new SingleBar({ format, barsize: 30, hideCursor: true, noTTYOutput: true, notTTYSchedule: 5_000 });
}

function report(took: number): void {
  const perSecond = Math.round(flights.length / (took / 1_000));
  console.log(
    `\n${flights.length} increments from ${CLIENTS} clients in ${(took / 1_000).toFixed(1)} s, ${perSecond}/s.`,
  );
  const table = new Table({
    head: ["airport", "departures", "in the file", "shards", "fresh after"],
    colAligns: ["left", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  const busiest = [...expected].sort(([, a], [, b]) => b.length - a.length).slice(0, 10);
  for (const [origin, { length }] of busiest) {
    const { snapshot, acknowledgedAt, seenAt } = airports.get(origin) as Airport;
    const fresh = Math.max(seenAt - acknowledgedAt, 0) / 1_000;
    table.push([origin, snapshot?.total ?? 0, length, snapshot?.shardCount ?? 1, `${fresh.toFixed(2)} s`]);
  }
  console.log(table.toString());
  console.log("fresh after: from the last acknowledged increment until a watcher saw the total that includes it.");
  console.log(
    "The emulator runs every waiting function in a process of its own, so on few cores totals lag; by design they",
  );
  console.log("are published once in 1 to 10 seconds.");
}

function stayUp(): void {
  const { FIRESTORE_EMULATOR_HOST: firestore, GCLOUD_PROJECT: project, TALLY_FUNCTIONS_HOST: functions } = process.env;
  console.log(`
The emulators stay up, with the functions loaded, until you press Ctrl-C:
  Firestore  ${firestore} (project ${project})
  Auth       ${auth}
  Functions  ${functions}
Look at a counter:
  curl 'http://${firestore}/v1/projects/${project}/databases/(default)/documents/counters/departures:ATL'
The page shows all of them, and counts you, too. What its traffic control asks for and one browser cannot send, the
clients here send. Its operator is ${OPERATOR.email}, password ${OPERATOR.password}:
  http://${page}/`);
  // The emulator never runs what is scheduled.
  const sweeps = setInterval(() => triggerSweep().catch(console.error), SWEEP_MS);
  process.once("SIGINT", () => {
    clearInterval(sweeps);
    console.log("\nStopping the emulators…");
    process.exit(0);
  });
}
