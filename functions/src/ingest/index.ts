/**
 * Ingest: events by HTTP and Pub/Sub, from pages that are being closed, and from servers. An instance commits what arrives at
 * about the same time together, so that events cost less than a write each.
 */
import type { WriteBatch } from "firebase-admin/firestore";
import { type CounterRef, commitTogether, newCounter, receiptOf } from "../../../admin/src/internal.ts";
import type { Millis } from "../counter/time.ts";
import type { DeployedBackend } from "../features/backend.ts";
import type { IngestConfig } from "./config.ts";
import { addToOutbox } from "./eventLog.ts";
import type { Unit } from "./events.ts";
import { createGrouping } from "./grouping.ts";
import { createIngestHandler } from "./http.ts";
import { createMessageHandler } from "./messages.ts";

/** So long a commit is repeated. A request takes 60 seconds at most, a queue included. */
const COMMIT_TIMEOUT: Millis = 20_000;

/** How many counters an instance remembers: what it knows of their shard counts. */
const MAX_COUNTERS = 10_000;

/** @param isLogged  whether what counts is to be published, too */
export function createHttpIngest(backend: DeployedBackend, config: IngestConfig, isLogged: boolean) {
  const add = grouping(backend, "http", isLogged);
  const verifyAppCheck = async (token: string) => {
    // Not loaded by the other functions, which it would make start later.
    const { getAppCheck } = await import("firebase-admin/app-check");
    return await getAppCheck().verifyToken(token);
  };
  const { visitors, items } = backend.config;
  const allowed = { ...config, visitors: visitors === "ingest", items };
  return createIngestHandler({ config: allowed, add, verifyAppCheck, now: () => performance.now() });
}

/** @param isLogged  whether what counts is to be published, too */
export function createMessageIngest(backend: DeployedBackend, isLogged: boolean) {
  return createMessageHandler(grouping(backend, "pubsub", isLogged));
}

/** @param channel  keeps ids apart: who can send requests cannot take the id of a message in advance */
function grouping(
  { firestore, config: { collection, visitors, items }, now, sleep }: DeployedBackend,
  channel: string,
  isLogged: boolean,
) {
  const counters = new Map<string, CounterRef>();
  return createGrouping(commit, sleep);

  async function commit(units: readonly Unit[]): Promise<ReadonlySet<Unit>> {
    const increments = units.map((unit) => {
      // What is off would wait for a function that is not deployed.
      const counts = unit.events.map(({ counter, by, visitor, item }) => ({
        counter: refOf(counter),
        by,
        visitor: visitors === "no" ? undefined : visitor,
        item: items ? item : undefined,
      }));
      const { counter } = counts[0] as { counter: CounterRef };
      const receipt = unit.id === undefined ? undefined : receiptOf(counter, `${channel}:${unit.id}`);
      return { unit, receipt, counts };
    });
    const addRecords = (batch: WriteBatch, added: readonly { unit: Unit }[]) => {
      const events = added.flatMap(({ unit }) => unit.events);
      if (isLogged) addToOutbox(batch, firestore, collection, events);
    };
    const duplicates = await commitTogether(increments, now() + COMMIT_TIMEOUT, addRecords);
    return new Set([...duplicates].map(({ unit }) => unit));
  }

  function refOf(id: string): CounterRef {
    const counter = counters.get(id) ?? newCounter(firestore, id, collection);
    counters.delete(id);
    counters.set(id, counter);
    if (counters.size > MAX_COUNTERS) counters.delete(counters.keys().next().value as string);
    return counter;
  }
}
