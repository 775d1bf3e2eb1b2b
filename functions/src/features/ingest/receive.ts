/** Receives events: an instance commits what arrives at about the same time together, so that events cost less than a write each. */
import type { WriteBatch } from "firebase-admin/firestore";
import {
  batchReceipt,
  type Counter,
  commitTogether,
  newCounter,
  readCounters,
  receiptOf,
} from "../../../../admin/src/internal.ts";
import type { Backend } from "../../counter/backend.ts";
import type { Millis } from "../../counter/time.ts";
import { Lru } from "../../shared/lru.ts";
import { addToOutbox } from "../eventLog/outbox.ts";
import type { Unit } from "./events.ts";
import { createAdmission, type KnownCounters } from "./existence.ts";
import { createGrouping } from "./grouping.ts";
import { createIngestHandler } from "./http.ts";
import { createMessageHandler } from "./messages.ts";
import { parseIngestConfig } from "./parseIngestConfig.ts";

/** So long a commit is repeated. A request takes 60 seconds at most, a queue included. */
const COMMIT_TIMEOUT: Millis = 20_000;

/** How many counters an instance remembers: what it knows of their shard counts, and that they exist. */
const MAX_COUNTERS = 10_000;

/** For how long a counter that was found is taken to exist. */
const KNOWN_FOR: Millis = 600_000;

export function createHttpIngest(backend: Backend) {
  const config = parseIngestConfig(backend.config.ingest);
  const counters = createCounters(backend);
  const add = grouping(backend, counters, "http");
  const verifyAppCheck = async (token: string) => {
    // Not loaded by the other functions, which it would make start later.
    const { getAppCheck } = await import("firebase-admin/app-check");
    return await getAppCheck().verifyToken(token);
  };
  const { visitors, items } = backend.config;
  const allowed = { ...config, visitors: visitors === "ingest", items };
  const now = () => performance.now();
  const admit = createAdmission(counters, config.counters, now);
  return createIngestHandler({ config: allowed, add, admit, verifyAppCheck, now });
}

export function createMessageIngest(backend: Backend) {
  return createMessageHandler(grouping(backend, createCounters(backend), "pubsub"));
}

interface Counters extends KnownCounters {
  /** The same reference for the same counter, while it is remembered. */
  readonly refOf: (id: string) => Counter;
}

/** The counters of an instance. A read of a shard count also tells that a counter exists, and the reverse. */
function createCounters({ firestore, config: { collection } }: Backend): Counters {
  const counters = new Lru<string, Counter>(MAX_COUNTERS);
  const refOf = (id: string) => {
    const counter = counters.get(id) ?? newCounter(firestore, id, collection);
    counters.set(id, counter);
    return counter;
  };
  return {
    refOf,
    isKnown: (id) => Date.now() - (counters.get(id)?._foundAt ?? Number.NEGATIVE_INFINITY) < KNOWN_FOR,
    async read(ids) {
      const found = await readCounters(ids.map((id) => counters.get(id) ?? newCounter(firestore, id, collection)));
      for (const counter of found) counters.set(counter.id, counter);
      return new Set(found.map(({ id }) => id));
    },
    remember(id) {
      refOf(id)._foundAt = Date.now();
    },
  };
}

/** @param channel  keeps ids apart: who can send requests cannot take the id of a message in advance */
function grouping(
  { firestore, config: { collection, visitors, items }, connections, now, sleep }: Backend,
  { refOf }: Counters,
  channel: string,
) {
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
      return { unit, receipt: receiptFor(unit), counts };
    });
    const addRecords = (batch: WriteBatch, added: readonly { unit: Unit }[]) => {
      const events = added.flatMap(({ unit }) => unit.events);
      if (connections.eventLog) addToOutbox(batch, firestore, collection, events);
    };
    const duplicates = await commitTogether(increments, now() + COMMIT_TIMEOUT, addRecords);
    return new Set([...duplicates].map(({ unit }) => unit));
  }

  function receiptFor({ id, of, events: [first] }: Unit) {
    if (id === undefined || first === undefined) return undefined;
    return of === "batch"
      ? batchReceipt(firestore, [collection, channel, id])
      : receiptOf(refOf(first.counter), `${channel}:${id}`);
  }
}
