/** Totals as production serves them: requests to the built function, in a process with many requests at a time. */
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { Timestamp } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { type Meter, startMeter } from "../../testkit/meter.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

let totals: ServedFunction;
/** Without counters, and without Firestore. */
let [off, cut]: ServedFunction[] = [];
let unanswered: ReturnType<typeof ask>;
let meter: Meter;
beforeAll(async () => {
  meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  [totals, off, cut] = await Promise.all([
    serveFunction("totals", { TOTALS_COUNTERS: "shown:*, headline" }, meter.address),
    serveFunction("totals", {}),
    serveFunction("totals", { TOTALS_COUNTERS: "headline" }, "127.0.0.1:1"),
  ]);
  unanswered = ask("?ids=headline", {}, cut);
});
afterAll(async () => {
  await Promise.all([totals, off, cut].map((served) => served?.kill()));
  meter.close();
});

async function ask(query: string, init: RequestInit = {}, at = totals) {
  const response = await fetch(`${at.url}${query}`, init);
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

interface Shown {
  readonly total: number;
  readonly asOf: number;
}
async function read(...ids: string[]): Promise<Record<string, Shown | null>> {
  const { status, text } = await ask(`?ids=${ids.map(encodeURIComponent)}`);
  expect(status, text).toBe(200);
  return JSON.parse(text).totals;
}

/** Writes a counter document, as the functions publish it. */
async function publish(id: string, total: number, fields: object = {}): Promise<number> {
  const asOf = Timestamp.now();
  await admin.doc(`counters/${id}`).set({ total, asOf, rate: 1, phase: "idle", ...fields });
  return asOf.toMillis();
}

describe("a request", () => {
  test("shows what was counted", async () => {
    await incrementCounter(counter(admin, "shown:counted"), 12);
    await until(async () => (await readPublished("shown:counted"))?.total === 12, "the total");
    const { asOf } = (await readPublished("shown:counted")) as { asOf: Timestamp };
    expect(await read("shown:counted")).toEqual({ "shown:counted": { total: 12, asOf: asOf.toMillis() } });
  });

  test("gets total and time alone, in the order of its ids, and null without a total", async () => {
    const asOf = await publish("shown:b", -1.5, { windows: { timeZone: "UTC" }, visitors: 7, secret: 1 });
    await admin.doc("counters/shown:reserved").set({ reservation: { shards: 3 }, bounded: true });
    const { text, headers } = await ask("?ids=shown:reserved,shown:b,shown%3Anone,headline");
    const b = `"shown:b":{"total":-1.5,"asOf":${asOf}}`;
    expect(text).toBe(`{"totals":{"shown:reserved":null,${b},"shown:none":null,"headline":null}}`);
    expect(headers.get("content-type")).toBe("application/json");
  });

  test("gets headers by which caches and pages of any site can keep the answer", async () => {
    await publish("shown:idle", 1);
    await publish("shown:large", 1e6, { rate: 100 });
    const cacheControl = async (ids: string) => (await ask(`?ids=${ids}`)).headers.get("cache-control");
    expect(await cacheControl("shown:idle")).toBe("public, max-age=1, s-maxage=1");
    expect(await cacheControl("shown:large")).toMatch(/^public, max-age=[789], s-maxage=[789]$/);
    expect(await cacheControl("shown:large,shown:idle")).toBe("public, max-age=1, s-maxage=1");
    const { headers } = await ask("?ids=shown:idle", { headers: { origin: "https://example.com" } });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect([headers.get("vary"), headers.get("set-cookie"), headers.get("pragma")]).toEqual([null, null, null]);
    const preflight = await ask("?ids=shown:idle", { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "GET, HEAD"]);
  });

  test("with the tag of the content gets 304", async () => {
    await publish("shown:tag", 1);
    const { headers, text } = await ask("?ids=shown:tag");
    const etag = headers.get("etag") as string;
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const same = await ask("?ids=shown:tag", { headers: { "if-none-match": tag } });
      expect([same.status, same.text, same.headers.get("etag")]).toEqual([304, "", etag]);
      expect(same.headers.get("cache-control")).toContain("s-maxage=1");
    }
    const head = await ask("?ids=shown:tag", { method: "HEAD" });
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", etag]);
    expect(Number(head.headers.get("content-length"))).toBe(text.length);
  });
});

describe("an instance", () => {
  test("reads each counter once for 200 requests at once, whichever counters they combine", async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `shown:crowd${n}`);
    await Promise.all(ids.map((id, n) => publish(id, n)));
    const { reads } = meter.usage;
    const start = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => read(...ids.slice(n % 20).slice(0, 1 + (n % 7)))),
    );
    const seconds = Math.floor((performance.now() - start) / 1_000);
    for (const answer of answers) {
      for (const [id, shown] of Object.entries(answer)) expect(shown?.total).toBe(ids.indexOf(id));
    }
    expect(meter.usage.reads - reads).toBeGreaterThanOrEqual(20);
    expect(meter.usage.reads - reads).toBeLessThanOrEqual(20 * (1 + seconds));
  });

  test("without counters is off", async () => {
    const { status, headers, text } = await ask("?ids=headline", {}, off);
    expect([status, headers.get("cache-control")]).toEqual([404, "public, max-age=10, s-maxage=10"]);
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining("TOTALS_COUNTERS") });
  });

  test("says so if Firestore gives no answer, and no cache keeps it", async () => {
    const { status, headers, text } = await unanswered;
    expect([status, headers.get("cache-control"), Object.keys(JSON.parse(text))]).toEqual([503, "no-store", ["error"]]);
    expect(cut?.output()).toContain("could not read totals; their readers were told so");
  });
});

describe("a hostile request", () => {
  test.each<[what: string, status: number, query: string, init?: RequestInit]>([
    ["with another parameter, to miss the cache", 400, "?ids=headline&x=1"],
    ["with the path of a document", 400, "?ids=shown:a%2Fshards%2F0"],
    ["for a hidden counter among others", 403, "?ids=headline,hidden"],
    [
      "for a hidden counter, that rewrites its URL",
      403,
      "?ids=hidden",
      { headers: { "x-original-url": "/?ids=headline" } },
    ],
    ["by POST", 405, "?ids=headline", { method: "POST", body: "ids=headline" }],
    [
      "by POST that says it is GET",
      405,
      "?ids=headline",
      { method: "POST", headers: { "x-http-method-override": "GET" } },
    ],
  ])("%s gets %i", async (_what, status, query, init) => {
    await publish("hidden", 42);
    const answer = await ask(query, init);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error: expect.stringMatching(/\w+/) }]);
    expect(answer.text).not.toContain("42");
    const shared = [403].includes(status) ? "public, max-age=10, s-maxage=10" : "no-store";
    expect(answer.headers.get("cache-control")).toBe(shared);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("with headers that caches do not look at gets the same answer as without", async () => {
    await publish("shown:headers", 1);
    const plain = await ask("?ids=shown:headers");
    const tricks = {
      range: "bytes=0-3",
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-http-method-override": "DELETE",
      "x-forwarded-proto": "gopher",
      "if-modified-since": new Date(Date.now() + 1e9).toUTCString(),
      "if-match": '"x"',
      accept: "text/html",
      origin: "https://evil.example",
      cookie: "session=1",
    };
    for (const [name, value] of Object.entries(tricks)) {
      const { status, text, headers } = await ask("?ids=shown:headers", { headers: { [name]: value } });
      expect([status, text], name).toEqual([200, plain.text]);
      const kept = (all: Headers) => [...all].filter(([header]) => header !== "date");
      expect(kept(headers), name).toEqual(kept(plain.headers));
    }
  });

  test("with a decompression bomb as its body does not fill the memory", async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const status = () =>
      new Promise((resolve, reject) => {
        const headers = { "content-encoding": "gzip", "content-type": "text/plain", "content-length": bomb.length };
        const sent = request(`${totals.url}?ids=headline`, { method: "GET", headers }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        });
        sent.on("error", reject).end(bomb);
      });
    expect(new Set(await Promise.all(Array.from({ length: 5 }, status)))).toEqual(new Set([200]));
    expect(totals.peakMemory()).toBeLessThan(256 * 1_024 ** 2);
  });
});
