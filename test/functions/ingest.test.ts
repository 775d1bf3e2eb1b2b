/** Ingest as production runs it: requests and messages to the built functions, in processes with many requests at a time. */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { counter, deleteCounter, ensureCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BatchMessage, EventMessage } from "../../functions/src/features/ingest/events.ts";
import { admin } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { type Meter, startMeter } from "../../testkit/meter.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const SITE = "https://example.com";
const params = {
  INGEST_COUNTERS: "/views:.*/, signups, pages:*",
  INGEST_ORIGINS: SITE,
  VISITORS: "ingest",
  ITEMS: "yes",
  INGEST_AMOUNT_PER_SECOND: "1000000",
};

let ingest: ServedFunction;
/** With the defaults but for its counters; with all defaults; with App Check; and the one that gets messages. */
let [plain, off, checked, subscriber]: ServedFunction[] = [];
let meter: Meter;
beforeAll(async () => {
  meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  [ingest, plain, off, checked, subscriber] = await Promise.all([
    serveFunction("ingest", params, meter.address),
    serveFunction("ingest", { INGEST_COUNTERS: "/views:.*/" }),
    serveFunction("ingest", {}),
    serveFunction("ingest", { ...params, INGEST_APP_CHECK: "yes" }),
    serveFunction("ingestmessages", {}),
  ]);
});
afterAll(async () => {
  await Promise.all([ingest, plain, off, checked, subscriber].map((served) => served?.kill()));
  meter.close();
});

async function send(batch: BatchMessage | string, headers: Record<string, string> = {}, to = ingest) {
  const body = typeof batch === "string" ? batch : JSON.stringify(batch);
  const response = await fetch(to.url, { method: "POST", body, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const events = (counter: string, size: number): EventMessage[] => Array.from({ length: size }, () => ({ counter }));
const accepted = (counted: number, duplicates = 0) => ({
  status: 200,
  body: { counted, duplicates, at: expect.any(Number) },
});

describe("a request", () => {
  test("counts its events in several counters, and its visitors once", async () => {
    const batch: BatchMessage = {
      events: [
        { counter: "views:request", visitor: "one" },
        { counter: "views:request", by: 7, visitor: "one" },
        { counter: "views:request", by: 0, visitor: "other" },
        { counter: "signups" },
      ],
    };
    expect(await send(batch)).toMatchObject(accepted(4));
    expect([await sumOfIncrements("views:request"), await sumOfIncrements("signups")]).toEqual([8, 1]);
    await until(async () => (await readPublished("views:request"))?.total === 8, "the total");
    await until(async () => (await admin.doc("counters/views:request").get()).get("uniques") === 2, "the visitors");
  });

  test("with an id counts once, however often it is sent, at the same time and later", async () => {
    const batch = { id: randomUUID(), events: events("views:once", 3) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(batch)));
    answers.push(await send(batch));
    expect(answers.map(({ body }) => body.counted).toSorted()).toEqual([0, 0, 0, 0, 0, 3]);
    expect(await sumOfIncrements("views:once")).toBe(3);
  });

  test("with an id counts once for its other counters, though one was deleted in between", async () => {
    const batch = { id: randomUUID(), events: [...events("views:day", 1), ...events("views:ever", 2)] };
    expect(await send(batch)).toMatchObject(accepted(3));
    await deleteCounter(counter(admin, "views:day"));
    expect(await send(batch)).toMatchObject(accepted(0, 3));
    expect([await sumOfIncrements("views:day"), await sumOfIncrements("views:ever")]).toEqual([0, 2]);
  });

  test("counts an event with an id of its own once, also in another batch, and the others again", async () => {
    const event = { counter: "views:event", id: randomUUID() };
    expect(await send({ events: [event, ...events("views:event", 2)] })).toMatchObject(accepted(3));
    expect(await send({ id: randomUUID(), events: [event, ...events("views:event", 4)] })).toMatchObject(
      accepted(4, 1),
    );
    expect(await sumOfIncrements("views:event")).toBe(7);
  });

  test("counts in a counter of a group if it exists, and makes none", async () => {
    await ensureCounter(counter(admin, "pages:made"));
    await until(async () => (await readPublished("pages:made"))?.total === 0, "the counter");
    const batch = { events: [...events("pages:made", 2), ...events("pages:none", 1)] };
    expect(await send(batch)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('events[2].counter: "pages:none" does not exist') },
    });
    const skipped = [{ index: 2, status: 403, error: expect.stringContaining("does not exist") }];
    expect(await send({ ...batch, skipInvalid: true })).toMatchObject({ status: 200, body: { counted: 2, skipped } });
    expect([await sumOfIncrements("pages:made"), await sumOfIncrements("pages:none")]).toEqual([2, 0]);
  });

  test("skips what is invalid if it may, and says what is the largest amount", async () => {
    const large = { counter: "views:skip", by: 101 };
    const refused = { error: expect.stringContaining("events[0].by"), maxAmount: 100 };
    expect(await send({ events: [large] })).toMatchObject({ status: 400, body: refused });
    const skipped = [{ index: 0, status: 400, ...refused }];
    expect(await send({ skipInvalid: true, events: [large] })).toMatchObject({
      status: 200,
      body: { counted: 0, duplicates: 0, skipped },
    });
  });

  test("is known by its id alone, in any order of its events, and apart from events with the same id", async () => {
    const [id, [a, b]] = [randomUUID(), [events("views:order a", 1), events("views:order b", 1)]];
    const other = await serveFunction("ingest", params);
    expect(await send({ id, events: [...a, ...b] })).toMatchObject(accepted(2));
    expect(await send({ id, events: [...b, ...a] }, {}, other)).toMatchObject(accepted(0, 2));
    const own = [{ counter: "views:order a", id }];
    expect(await send({ id, events: own }, {}, other)).toMatchObject(accepted(1));
    await other.kill();
    expect([await sumOfIncrements("views:order a"), await sumOfIncrements("views:order b")]).toEqual([2, 1]);
  });

  test("that comes again costs no read where it was counted, and 1 elsewhere", async () => {
    const other = await serveFunction("ingest", params, meter.address);
    const batches = Array.from({ length: 200 }, () => ({ id: randomUUID(), events: events("views:again", 1) }));
    const repeats = batches.slice(0, 5);
    await Promise.all([...repeats.map((batch) => send(batch)), send({ events: events("views:again", 1) }, {}, other)]);
    await until(async () => (await readPublished("views:again"))?.total === 6, "the total");
    const before = { ...meter.usage };
    expect(await Promise.all(repeats.map((batch) => send(batch)))).toMatchObject(repeats.map(() => accepted(0, 1)));
    expect(meter.usage).toEqual(before);
    const answers = await Promise.all(batches.map((batch) => send(batch, {}, other)));
    expect(answers.filter(({ body }) => body.duplicates === 1)).toHaveLength(5);
    // And the shard count.
    expect(meter.usage.reads - before.reads).toBeLessThanOrEqual(5 + 3);
    expect(await sumOfIncrements("views:again")).toBe(201);
    await other.kill();
  });

  test("shares its commit with others: 200 requests cost their receipts, and hardly a write more", async () => {
    await send({ events: events("views:commit", 1) });
    const before = { ...meter.usage };
    const batches = Array.from({ length: 200 }, () => ({ id: randomUUID(), events: events("views:commit", 10) }));
    await Promise.all(batches.map((batch) => send(batch)));
    // On the emulator a list may miss a part of a fold's commit for some milliseconds.
    await until(async () => (await sumOfIncrements("views:commit")) === 2_001, "the sum");
    expect(meter.usage.writes - before.writes).toBeGreaterThan(200);
    expect(meter.usage.writes - before.writes).toBeLessThan(230);
    expect(meter.usage.reads - before.reads).toBeLessThan(10);
  });

  test("counts if its page is of a listed site; any page can read the answer", async () => {
    const fromSite = await send({ events: events("views:cors", 1) }, { origin: SITE, "content-type": "text/plain" });
    expect(fromSite).toMatchObject(accepted(1));
    expect(fromSite.headers.get("access-control-allow-origin")).toBe(SITE);
    expect(fromSite.headers.get("access-control-expose-headers")).toBe("retry-after");
    expect(fromSite.headers.get("access-control-allow-credentials")).toBe("true");
    expect(fromSite.headers.get("vary")).toBe("origin");
    const headers = { origin: SITE, "access-control-request-method": "POST" };
    const preflight = await fetch(ingest.url, { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    for (const origin of ["https://evil.example", "null", `${SITE}.evil.example`, "http://example.com"]) {
      const refused = await send({ events: events("views:cors", 1) }, { origin });
      expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining("INGEST_ORIGINS") } });
    }
    expect(await sumOfIncrements("views:cors")).toBe(1);
  });
});

describe("a hostile request", () => {
  const one = events("views:hostile", 1);
  test.each<[what: string, status: number, body: string | object, headers?: Record<string, string>]>([
    ["that is no batch", 400, { events: [...one, null] }],
    ["with a counter that is not listed", 403, { events: [...one, { counter: "votes:final" }] }],
    ["of 65,537 bytes", 413, " ".repeat(65_537)],
    ["that says it is compressed", 415, { events: one }, { "content-encoding": "br" }],
    ["from another site", 403, { events: one }, { origin: "https://evil.example" }],
  ])("%s gets %i, and counts nothing", async (_what, status, body, headers) => {
    const answer = await send(body as BatchMessage, headers);
    expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(/\w+/) }]);
    expect(await sumOfIncrements("views:hostile")).toBe(0);
  });

  test.each(["GET", "PUT", "DELETE", "PATCH"])("with %s gets 405", async (method) => {
    const response = await fetch(ingest.url, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  test("whose body pauses gets 408 after ten seconds, and its connection ends", { tags: "deep" }, async () => {
    const { hostname, port } = new URL(ingest.url);
    const socket = connect(Number(port), hostname);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"events": [');
    const start = performance.now();
    const answer = await new Response(Readable.toWeb(socket) as ReadableStream).text();
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - start).toBeGreaterThan(9_900);
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  test("that is a decompression bomb, or has no end in sight, does not fill the memory", async () => {
    const bomb = gzipSync(Buffer.alloc(300_000_000));
    // The connection may close before the whole body is sent, and then `fetch` fails.
    const statusOf = (sent: Promise<Response>) => sent.then(({ status }) => status).catch(() => "closed");
    const bombs = Array.from({ length: 20 }, (_, index) => {
      const type = ["application/json", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded"];
      const headers = { "content-encoding": "gzip", "content-type": type[index % 4] as string };
      return statusOf(fetch(ingest.url, { method: "POST", body: bomb, headers }));
    });
    for (const status of await Promise.all(bombs)) expect([415, "closed"]).toContain(status);
    const large = Array.from({ length: 10 }, () => {
      const chunk = new TextEncoder().encode(" ".repeat(1_000_000));
      let left = 30;
      const body = new ReadableStream({ pull: (out) => (left-- > 0 ? out.enqueue(chunk) : out.close()) });
      return statusOf(fetch(ingest.url, { method: "POST", body, duplex: "half" } as RequestInit));
    });
    for (const status of await Promise.all(large)) expect([413, "closed"]).toContain(status);
    expect(ingest.peakMemory()).toBeLessThan(256 * 1_024 ** 2);
  });
});

describe("an instance", () => {
  test.each([
    ["visitor", "VISITORS"],
    ["item", "ITEMS"],
  ])("counts no %s of requests by default", async (field, parameter) => {
    const refused = await send({ events: [{ counter: "views:plain", [field]: "one" }] }, {}, plain);
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining(parameter) } });
  });

  test("is off by default", async () => {
    expect(await send({ events: events("views:off", 1) }, {}, off)).toMatchObject({ status: 404 });
  });

  test("accepts so many events from an address, whatever the request says of others, and says when to send again", {
    tags: "deep",
  }, async () => {
    const limited = await serveFunction("ingest", { ...params, INGEST_AMOUNT_PER_SECOND: "1" });
    const from = (address: string, size: number) =>
      send({ events: events("views:flood", size) }, { "x-forwarded-for": address }, limited);
    expect(await from("1.2.3.4", 10)).toMatchObject(accepted(10));
    // As many as nine seconds allow.
    const spoofed = await from("9.9.9.9, 8.8.8.8, 1.2.3.4", 10);
    expect(spoofed.status).toBe(429);
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9]).toContain(Number(spoofed.headers.get("retry-after")));
    expect(await from("1.2.3.5", 10)).toMatchObject(accepted(10));
    expect(await from("1.2.3.7", 61)).toMatchObject({ status: 413 });
    expect(await from("1.2.3.8", 60)).toMatchObject(accepted(60));
    await limited.kill();
  });

  test("with App Check refuses requests without a valid token", async () => {
    const batch = { events: events("views:checked", 1) };
    expect(await send(batch, {}, checked)).toMatchObject({ status: 401 });
    expect(await send(batch, { "x-firebase-appcheck": "a.b.c" }, checked)).toMatchObject({ status: 401 });
    expect(await send({ ...batch, appCheck: "a.b.c" }, {}, checked)).toMatchObject({ status: 401 });
  });
});

describe("a message", () => {
  /** Delivers a message as a push subscription does. */
  async function deliver(messageId: string, data: string): Promise<number> {
    const message = { messageId, data: Buffer.from(data).toString("base64"), publishTime: new Date().toISOString() };
    const { status } = await fetch(`${subscriber?.url}projects/demo-tally/topics/tally-events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message, subscription: "projects/demo-tally/subscriptions/any" }),
    });
    return status;
  }

  test("counts in any counter, once however often it is delivered", async () => {
    const data = JSON.stringify({ events: [{ counter: "orders:eu", by: 500 }, { counter: "orders:us" }] });
    const statuses = await Promise.all(["1", "1", "2", "1"].map((id) => deliver(id, data)));
    expect(statuses.every((status) => status < 300)).toBe(true);
    expect([await sumOfIncrements("orders:eu"), await sumOfIncrements("orders:us")]).toEqual([1_000, 2]);
  });

  test("that is published twice counts once if its batch has an id", async () => {
    const data = JSON.stringify({ id: "batch 7", events: events("orders:asia", 3) });
    await Promise.all(["3", "4"].map((id) => deliver(id, data)));
    expect(await sumOfIncrements("orders:asia")).toBe(3);
  });

  test("that is no valid batch is dropped, and the log says so", async () => {
    expect(await deliver("5", '{"events": [{"counter": "a/b"}]}')).toBeLessThan(300);
    expect(subscriber?.output()).toMatch(/"dropped a message of ingest that is no valid batch".*"messageId":"5"/);
  });

  test("cannot be kept from counting by a request with its id", async () => {
    const events = [{ counter: "views:channel", id: "order 17" }];
    await send({ events });
    await deliver("6", JSON.stringify({ events }));
    expect(await sumOfIncrements("views:channel")).toBe(2);
  });
});
