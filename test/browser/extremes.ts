/** Counters with the largest totals and the longest ids, as the functions publish them, for the tests of the page's layout. */
import { Timestamp } from "firebase-admin/firestore";
import { admin } from "../../testkit/clients.ts";
import { TICKETS, TRAFFIC } from "../../web/src/traffic/demoCounters.ts";

/** The largest id of a document: 1,500 bytes, without a place to break. */
export const LONGEST_ID = `long:${"x".repeat(1_495)}`;

const LARGEST = 999_999_999_999_999.25;

const DAY_MS = 86_400_000;

const TOTALS: Record<string, number> = {
  [TRAFFIC]: LARGEST,
  [TICKETS]: LARGEST,
  [LONGEST_ID]: LARGEST,
  "large:negative": -1_234_567_890.12,
  "large:fraction": 0.1 + 0.2,
  "large:عداد الإعجابات في الصفحة الرئيسية": LARGEST,
  [`large:${"👩‍👩‍👧‍👦".repeat(58)}`]: LARGEST,
  "departures:ATL": LARGEST,
  [`departures:${"x".repeat(1_489)}`]: 1_234_567_890.12,
};

export async function addExtremes(): Promise<void> {
  const batch = admin.batch();
  for (const [id, total] of Object.entries(TOTALS)) batch.set(admin.doc(`counters/${id}`), published(id, total));
  const longest = admin.doc(`counters/${LONGEST_ID}`);
  const asOf = Timestamp.now();
  const region = { total: LARGEST, asOf, windows: null };
  batch.update(longest, {
    globalTotal: LARGEST,
    globalWindows: null,
    regions: { [`eu${"x".repeat(200)}`]: region, us: null },
  });
  batch.set(longest.collection("tallySketches").doc("topItems"), {
    top: [{ item: "y".repeat(1_000), count: LARGEST, error: 1 }],
    error: 1,
    total: LARGEST,
    asOf,
  });
  batch.set(longest.collection("tallyCorrections").doc("x"), {
    expected: LARGEST,
    found: -LARGEST,
    by: LARGEST,
    at: asOf,
  });
  await batch.commit();
}

/** So that other tests of this database have counters of their own making. */
export async function removeExtremes(): Promise<void> {
  await Promise.all(Object.keys(TOTALS).map((id) => admin.recursiveDelete(admin.doc(`counters/${id}`))));
}

function published(id: string, total: number) {
  const window = { until: Timestamp.fromMillis((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS), total };
  return {
    total,
    rate: 99_999,
    shardCount: 10_000,
    writes: 1,
    publishes: 1,
    asOf: Timestamp.now(),
    group: id.split(":")[0],
    windows: { timeZone: "UTC", day: window, week: window, month: window },
  };
}
