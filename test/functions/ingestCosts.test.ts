/**
 * What strangers can make one instance of ingest cost at its defaults. A hundred requests a second come, each from another site, so that
 * only the limits of the whole instance hold. The figures are those of docs/security.md.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BatchMessage, EventMessage } from "../../functions/src/features/ingest/events.ts";
import { admin } from "../../testkit/clients.ts";
import { serveFunction } from "../../testkit/functionServer.ts";
import { type Meter, startMeter } from "../../testkit/meter.ts";

const INGEST_COUNTERS = "costs, group:*, /pattern:.*/";
const REQUESTS = 200;
/** Limits let ten seconds' worth come at once. */
const BURST_SECONDS = 10;

let meter: Meter;
beforeAll(async () => {
  meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
});
afterAll(() => meter.close());

interface Attack {
  /** What the `n`th request sends. */
  readonly batch: (n: number) => BatchMessage;
  /** Documents per second, as ingest itself reads and writes them, and as a TTL policy deletes them. */
  readonly perSecond: readonly [reads: number, writes: number, deletes: number];
}

const batchOf = (size: number, event: (index: number) => EventMessage) => ({
  events: Array.from({ length: size }, (_, index) => event(index)),
});
const withIds = (name: string) => batchOf(500, (i) => ({ counter: "costs", id: `${name} ${i}` }));

const ATTACKS: Record<string, Attack> = {
  "1 event": { batch: () => batchOf(1, () => ({ counter: "costs" })), perSecond: [1, 10, 5] },
  "1 event, and an id": {
    batch: (n) => ({ id: `costs ${n}`, ...batchOf(1, () => ({ counter: "costs" })) }),
    perSecond: [1, 105, 100],
  },
  "500 made-up counters of a group": {
    batch: (n) => batchOf(500, (i) => ({ counter: `group:${n}-${i}` })),
    perSecond: [100, 0, 0],
  },
  "50 new counters of a pattern": {
    batch: (n) => batchOf(50, (i) => ({ counter: `pattern:${n}-${i}` })),
    perSecond: [105, 6, 1],
  },
  "500 events with ids": { batch: (n) => withIds(`first ${n}`), perSecond: [1, 1_005, 1_000] },
  "500 events with ids that another instance has counted": {
    batch: (n) => withIds(`again ${n % SEEDS}`),
    perSecond: [1_000, 0, 0],
  },
};

const SEEDS = 30;
const NAMES = Object.keys(ATTACKS);
const receipts = async () => (await admin.collectionGroup("tallyReceipts").count().get()).data().count;

async function attackWith({ batch }: Attack) {
  const ingest = await serveFunction("ingest", { INGEST_COUNTERS }, meter.address);
  const send = async (n: number) => {
    await sleep(10 * n);
    const headers = { "x-forwarded-for": `2001:db8:${n.toString(16)}::1` };
    return (await fetch(ingest.url, { method: "POST", headers, body: JSON.stringify(batch(n)) })).text();
  };
  const [before, start, created] = [{ ...meter.usage }, performance.now(), await receipts()];
  await Promise.all(Array.from({ length: REQUESTS }, (_, n) => send(n)));
  const seconds = (performance.now() - start) / 1_000;
  const { reads, writes } = meter.usage;
  await ingest.kill();
  return { used: [reads - before.reads, writes - before.writes, (await receipts()) - created], seconds };
}

describe("100 requests a second", { tags: "deep" }, () => {
  beforeAll(async () => {
    const other = await serveFunction("ingest", { INGEST_COUNTERS, INGEST_AMOUNT_PER_SECOND: "1000000" });
    const attack = ATTACKS[NAMES.at(-1) as string] as Attack;
    for (let n = 0; n < SEEDS; n++) {
      const answer = await fetch(other.url, { method: "POST", body: JSON.stringify(attack.batch(n)) });
      expect(await answer.json()).toMatchObject({ counted: 500 });
    }
    await other.kill();
  });

  test.each(Object.entries(ATTACKS))("with %s each cost no more than documented", async (name, attack) => {
    const { used, seconds } = await attackWith(attack);
    console.log(`  ${name}: ${used} reads, writes and deletes in ${seconds.toFixed(1)} s`);
    // A hundred events a second are within the limits.
    const burst = name.startsWith("1 event") ? 1 : BURST_SECONDS;
    for (const [index, perSecond] of attack.perSecond.entries())
      expect(used[index]).toBeLessThanOrEqual(1.1 * perSecond * (seconds + burst));
  });

  const security = readFileSync("docs/security.md", "utf8");
  test.each(Object.entries(ATTACKS))("with %s each have the figures of docs/security.md", (name, { perSecond }) => {
    const row = security.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
    const figures = row.replaceAll(",", "").split("|").slice(2, 5).map(Number);
    expect(figures).toEqual(perSecond);
  });
});
