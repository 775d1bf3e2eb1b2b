import { expect, test } from "vitest";
import { parseCounterList } from "../../shared/counterList.ts";
import { parseBatch } from "./events.ts";
import { createAdmission, MISSING_PER_ADDRESS, MISSING_PER_INSTANCE } from "./existence.ts";

const list = parseCounterList("signups, views:*, /pages:.*/", "INGEST_COUNTERS");
const LIMITS = { counters: list, visitors: true, items: true, maxEvents: 500, maxAmount: 100, maxSum: 1_000 };

/** An instance with counters that exist. It knows those that it has read. */
function instance(...existing: string[]) {
  const known = new Set<string>();
  const reads: (readonly string[])[] = [];
  const clock = { now: 0, isDown: false };
  const admit = createAdmission(
    {
      isKnown: (id) => known.has(id),
      remember: (id) => known.add(id),
      async read(ids) {
        reads.push(ids);
        await Promise.resolve();
        if (clock.isDown) throw new Error("down");
        const found = new Set(ids.filter((id) => existing.includes(id)));
        for (const id of found) known.add(id);
        return found;
      },
    },
    list,
    () => clock.now,
  );
  const send = async (counters: readonly string[], { skipInvalid = false, address = "1.2.3.4" } = {}) => {
    const json = JSON.stringify({ skipInvalid, events: counters.map((counter) => ({ counter })) });
    const { events, skipped } = await admit(parseBatch(json, LIMITS), address);
    return {
      counted: events.map(({ counter }) => counter),
      skipped: skipped?.map(({ index, status }) => [index, status]),
    };
  };
  const statusOf = (sent: Promise<unknown>) =>
    sent.then(
      () => 200,
      ({ status = 503 }) => status as number,
    );
  return { send, statusOf, reads, clock, existing };
}

const ids = (group: string, size: number, from = 0) => Array.from({ length: size }, (_, n) => `${group}:${from + n}`);

test("a counter of a group must exist; one read per counter tells, which requests share", async () => {
  const { send, statusOf, reads, clock, existing } = instance("views:home");
  const answers = await Promise.all([
    statusOf(send(["views:home", "signups"])),
    statusOf(send(["views:none", "views:home"])),
    statusOf(send(["views:none"])),
  ]);
  expect([answers, reads]).toEqual([
    [200, 403, 403],
    [["views:home"], ["views:none"]],
  ]);
  await expect(send(["signups", "views:none"])).rejects.toThrow(
    'events[1].counter: "views:none" does not exist; make it',
  );
  expect(await send(["views:none", "views:home"], { skipInvalid: true })).toEqual({
    counted: ["views:home"],
    skipped: [[0, 403]],
  });
  existing.push("views:none");
  expect([await statusOf(send(["views:none"])), reads.length]).toEqual([403, 2]);
  clock.now += 10_000;
  expect([await statusOf(send(["views:none"])), reads.length]).toEqual([200, 3]);
});

test("an expression admits new counters: of an address 20 at once and one a second, in all 50 and five", async () => {
  const { send, statusOf, clock } = instance("views:home");
  const from = (address: string, counters: string[]) => statusOf(send(counters, { address }));
  expect(await from("1.0.0.1", ids("pages", 20))).toBe(200);
  // Known by then.
  expect(await from("1.0.0.2", ids("pages", 20))).toBe(200);
  expect(await from("1.0.0.1", ids("pages", 1, 20))).toBe(429);
  // Not skipped: the same batch must mean the same later.
  await expect(send(["views:home", "pages:20"], { skipInvalid: true, address: "1.0.0.1" })).rejects.toMatchObject({
    status: 429,
  });
  expect(await from("1.0.0.2", ids("pages", 20, 20))).toBe(200);
  expect(await from("1.0.0.3", ids("pages", 10, 40))).toBe(200);
  expect(await from("1.0.0.4", ids("pages", 1, 50))).toBe(429);
  clock.now += 1_000;
  expect(await from("1.0.0.4", ids("pages", 5, 50))).toBe(200);
  expect(await from("1.0.0.1", ids("pages", 1, 60))).toBe(429);
  clock.now += 1_000;
  expect(await from("1.0.0.1", ids("pages", 1, 60))).toBe(200);
});

test("a batch with more new counters than the burst passes once it is full, and delays the next ones", async () => {
  const { send, statusOf, clock } = instance();
  const from = (address: string, counters: string[]) => statusOf(send(counters, { address }));
  expect(await from("1.0.0.1", ids("pages", 100))).toBe(200);
  expect(await from("1.0.0.2", ids("pages", 1, 100))).toBe(429);
  clock.now += 11_000;
  expect(await from("1.0.0.2", ids("pages", 1, 100))).toBe(200);
  expect(await from("1.0.0.1", ids("pages", 1, 101))).toBe(429);
});

test("the reads of made-up counters are limited for each address, and in all; what exists is not charged", async () => {
  const existing = ids("views", 5_000);
  const { send, statusOf, reads, clock } = instance(...existing);
  const readsOf = () => reads.flat().filter((id) => id.startsWith("views:x")).length;
  const madeUp = (n: number, address: string) => statusOf(send(ids(`views:x${n}`, 50), { address }));
  for (let n = 0; n < 10; n++) expect(await statusOf(send(existing.slice(500 * n, 500 * n + 500)))).toBe(200);
  const one = await Promise.all(Array.from({ length: 20 }, (_, n) => madeUp(n, "1.0.0.1")));
  expect([one.filter((status) => status === 403).length * 50, one.at(-1)]).toEqual([MISSING_PER_ADDRESS.burst, 429]);
  await Promise.all(Array.from({ length: 100 }, (_, n) => madeUp(100 + n, `1.0.1.${n}`)));
  expect(readsOf()).toBe(MISSING_PER_INSTANCE.burst);
  expect(await statusOf(send(["signups", "views:7"]))).toBe(200);
  clock.isDown = true;
  clock.now += 1_000;
  for (let n = 0; n < 5; n++) expect(await statusOf(send(ids("views:y", 50), { address: "2.0.0.1" }))).toBe(503);
});
