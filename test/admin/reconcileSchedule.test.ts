/** Reconciling counters on schedule: the sweep, its log and its events. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { counter, getExactCounter, setSource } from "firestore-tally/admin";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DRIFT_EVENT } from "../../functions/src/alarm.ts";
import type { Backend } from "../../functions/src/backend.ts";
import { reconcileDue } from "../../functions/src/reconcile.ts";
import { admin } from "../../testkit/clients.ts";
import { emulatorsLog, logged, triggerSweep } from "../../testkit/deployedFunctions.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { correctionsOf, newCounter, newUnwatchedCollection } from "./sourcedCounter.ts";

afterEach(() => vi.unstubAllEnvs());

describe("reconciling on schedule", () => {
  const minutesAgo = (minutes: number) => Timestamp.fromMillis(Date.now() - minutes * 60_000);
  const drifted = "a counter had drifted from its source, and was corrected";
  const alarms = (id: string) => logged(drifted).filter(({ counter }) => counter === id);
  /** The events that the Eventarc emulator has received. */
  const events = (id: string) =>
    emulatorsLog()
      .split("Received event at channel ")
      .slice(1)
      .map((text) => ({ channel: text.slice(0, text.indexOf(":")), event: text.slice(text.indexOf("{")) }))
      .filter(({ event }) => event.includes(`"ceString": "${id}"`));

  /** A counter with a schedule, and three documents that were never counted. */
  async function scheduledCounter(name: string, every: number, alarmBeyond?: number) {
    const it = newCounter(name);
    for (const document of ["a", "b", "c"]) await admin.doc(`${it.source}/${document}`).set({});
    await setSource(it.ref, { collection: it.source }, { every, alarmBeyond });
    return it;
  }

  test("the sweep reconciles the counters that are due and no others, and logs every drift", async () => {
    const now = await scheduledCounter("due", 300_000);
    const tolerant = await scheduledCounter("tolerant", 300_000, 3);
    const later = await scheduledCounter("later", 300_000);
    const broken = await scheduledCounter("broken", 300_000);
    const gone = await scheduledCounter("gone", 300_000);
    const nextReconcileAt = minutesAgo(12);
    for (const { ref } of [now, tolerant]) await admin.doc(ref.path).update({ nextReconcileAt });
    await admin.doc(broken.ref.path).update({ nextReconcileAt, "source.collection": "not/a-collection" });
    await admin.doc(gone.ref.path).update({ nextReconcileAt, source: FieldValue.delete() });
    await triggerSweep();

    for (const { ref, id, source } of [now, tolerant]) {
      expect(await correctionsOf(id)).toMatchObject([{ source: { collection: source }, expected: 3, found: 0, by: 3 }]);
      expect(await getExactCounter(ref)).toBe(3);
      // The next time is a multiple of the interval after the previous one.
      const next = (await admin.doc(ref.path).get()).get("nextReconcileAt");
      expect((next.toMillis() - nextReconcileAt.toMillis()) % 300_000).toBe(0);
      expect(next.toMillis()).toBeGreaterThan(Date.now());
      expect(next.toMillis()).toBeLessThan(Date.now() + 300_000);
    }
    await until(async () => (await readPublished(now.id))?.total === 3, "the total");
    expect(alarms(now.id)).toMatchObject([
      { severity: "ERROR", expected: 3, found: 0, drift: 3, asOf: expect.any(String) },
    ]);
    expect(alarms(tolerant.id)).toEqual([]);

    expect(await correctionsOf(later.id)).toEqual([]);
    // A counter that cannot be reconciled does not block the others, and is not retried at once.
    const failed = logged("could not reconcile a counter").filter(({ counter }) => counter === broken.id);
    expect(failed).toMatchObject([
      { error: expect.stringContaining('collection is "not/a-collection"; pass the path') },
    ]);
    expect((await admin.doc(broken.ref.path).get()).get("nextReconcileAt").toMillis()).toBeGreaterThan(Date.now());
    expect((await admin.doc(gone.ref.path).get()).get("nextReconcileAt")).toBeUndefined();

    await triggerSweep();
    expect(await correctionsOf(now.id)).toHaveLength(1);
    expect(alarms(now.id)).toHaveLength(1);

    await until(() => events(now.id).length > 0, "the event");
    const [{ channel, event } = { channel: "", event: "" }] = events(now.id);
    expect(channel).toMatch(/^projects\/[^/]+\/locations\/us-central1\/channels\/firebase$/);
    expect(event).toContain('"type": "firestore-tally.v1.drift"');
    expect(event).toContain('\\"drift\\":3');
    expect(events(now.id)).toHaveLength(1);
    expect(events(tolerant.id)).toEqual([]);
  });

  test("more counters than one batch are all reconciled", async () => {
    const many = await Promise.all(Array.from({ length: 11 }, (_, n) => scheduledCounter(`many${n}-`, 300_000, 10)));
    for (const [n, { ref }] of many.entries()) await admin.doc(ref.path).update({ nextReconcileAt: minutesAgo(n % 3) });
    await triggerSweep();
    expect(await Promise.all(many.map(({ ref }) => getExactCounter(ref)))).toEqual(many.map(() => 3));
  });

  describe("the event", () => {
    /** A server in place of Eventarc, which answers with a status and records requests. */
    async function startEventarc(status: number) {
      const received: { url: string | undefined; body: string }[] = [];
      const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        received.push({ url: request.url, body });
        response.writeHead(status, { "content-type": "application/json" }).end("{}");
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      vi.stubEnv("CLOUD_EVENTARC_EMULATOR_HOST", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      vi.stubEnv("EVENTARC_CHANNEL", "locations/europe-west1/channels/tally");
      return { received, close: () => server.close() };
    }

    /** Reconciles a new collection in this process, as a sweep does. */
    async function reconcileOnce() {
      const collection = newUnwatchedCollection();
      const ref = counter(admin, "drifting", { collection });
      await admin.doc(`${collection}-source/one`).set({});
      await setSource(ref, { collection: `${collection}-source` }, { every: 300_000 });
      await admin.doc(ref.path).update({ nextReconcileAt: minutesAgo(1) });
      const config = { counted: undefined } as Backend["config"];
      const sleep = () => new Promise<void>(() => {});
      const backend = { counters: admin.collection(collection), config, now: Date.now, sleep } as unknown as Backend;
      await reconcileDue(backend);
      return { ref, again: () => reconcileDue(backend) };
    }

    test("is published to the channel of the configuration", async () => {
      const { received, close } = await startEventarc(200);
      await reconcileOnce();
      expect(received).toHaveLength(1);
      expect(received[0]?.url).toMatch(/^\/projects\/[^/]+\/locations\/europe-west1\/channels\/tally:publishEvents$/);
      const [event] = JSON.parse(received[0]?.body ?? "").events;
      expect(event).toMatchObject({ type: DRIFT_EVENT, attributes: { subject: { ceString: "drifting" } } });
      expect(JSON.parse(event.textData)).toMatchObject({ counter: "drifting", expected: 1, found: 0, drift: 1 });
      close();
    });

    test("that cannot be published neither undoes nor repeats the correction", async () => {
      const { received, close } = await startEventarc(403);
      const { ref, again } = await reconcileOnce();
      await again();
      expect(received).toHaveLength(1);
      expect(await getExactCounter(ref)).toBe(1);
      expect((await admin.collection(`${ref.path}/corrections`).get()).size).toBe(1);
      expect((await admin.doc(ref.path).get()).get("nextReconcileAt").toMillis()).toBeGreaterThan(Date.now());
      close();
    });

    test.each([
      ["", 0],
      ["other.publisher.v1.event", 0],
      [`other.publisher.v1.event,${DRIFT_EVENT}`, 1],
    ])("is published only if selected in the extension: %j", async (selected, events) => {
      vi.stubEnv("EXT_SELECTED_EVENTS", selected);
      const { received, close } = await startEventarc(200);
      const { ref } = await reconcileOnce();
      expect(received).toHaveLength(events);
      expect(await getExactCounter(ref)).toBe(1);
      close();
    });

    test("is not published without a channel", async () => {
      const { received, close } = await startEventarc(200);
      vi.stubEnv("EVENTARC_CHANNEL", "");
      const { ref } = await reconcileOnce();
      expect([received, await getExactCounter(ref)]).toEqual([[], 1]);
      close();
    });
  });
});
