/** Traffic: increments at a steady rate from many clients, and what a watcher sees meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { type CounterSnapshot, counter, incrementCounter, onCounter } from "firestore-tally";
import type { Client } from "./clients.ts";
import { readPublished } from "./storedCounter.ts";

/**
 * Calls a function at fixed times, in milliseconds from now, however long the calls take.
 *
 * @returns when the calls resolved (`performance.now()`), in that order
 */
export async function callAt(times: readonly number[], call: (n: number) => Promise<void>): Promise<number[]> {
  const start = performance.now();
  const pending: Promise<void>[] = [];
  const resolvedAt: number[] = [];
  for (const [n, time] of times.entries()) {
    const wait = start + time - performance.now();
    if (wait > 0) await sleep(wait);
    pending.push(call(n).then(() => void resolvedAt.push(performance.now())));
  }
  await Promise.all(pending);
  return resolvedAt;
}

/** Calls a function at a steady rate. @returns how many calls resolved, and when the last one did */
export async function callSteadily(perSecond: number, seconds: number, call: (n: number) => Promise<void>) {
  const times = Array.from({ length: Math.ceil(perSecond * seconds) }, (_, n) => (n * 1_000) / perSecond);
  const resolvedAt = await callAt(times, call);
  return { acknowledged: resolvedAt.length, lastAt: performance.now() };
}

/** Increments one counter at a steady rate, the clients taking turns. */
export function incrementSteadily(clients: readonly Client[], id: string, perSecond: number, seconds: number) {
  const refs = clients.map(({ db }) => counter(db, id));
  return callSteadily(perSecond, seconds, (n) => incrementCounter(refs[n % refs.length] as (typeof refs)[0]));
}

export interface Watch {
  /** Every total from the server, in the order seen, and when it was (`performance.now()`). */
  readonly seen: readonly (CounterSnapshot & { readonly at: number })[];
  /**
   * Resolves with the time (`performance.now()`) at which a total was first seen. Under load the emulator's watches miss
   * a change now and then, which production's do not; so the document is also read, once a second.
   */
  reached(total: number): Promise<number>;
  stop(): void;
}

/** Watches a counter from its own client. Resolves once the first snapshot has come. */
export async function watchTotals(client: Client, id: string): Promise<Watch> {
  const seen: (CounterSnapshot & { readonly at: number })[] = [];
  const waiting = new Map<number, () => void>();
  let stop: () => void = () => {};
  await new Promise<void>((resolve, reject) => {
    stop = onCounter(counter(client.db, id), {
      next(snapshot) {
        // A counter that was never published may have direct increments.
        if (!snapshot.fromCache) seen.push({ ...snapshot, at: performance.now() });
        waiting.get(snapshot.total)?.();
        resolve();
      },
      error: reject,
    });
  });
  const reached = (total: number) =>
    new Promise<number>((resolve) => {
      const poll = setInterval(async () => {
        if ((await readPublished(id))?.total === total) done();
      }, 1_000);
      const done = () => {
        clearInterval(poll);
        resolve(performance.now());
      };
      waiting.set(total, done);
      if (seen.at(-1)?.total === total) done();
    });
  return { seen, reached, stop };
}

/** Time in milliseconds between consecutive publishes, as the database tells it. */
export function publishGaps({ seen }: Watch): number[] {
  const at = seen.flatMap(({ asOf }) => (asOf ? [asOf.seconds * 1_000 + asOf.nanoseconds / 1e6] : []));
  return at.slice(1).map((time, i) => time - (at[i] as number));
}

/** The sums of a base and any subset of a few commits. */
export function possibleSums(base: number, commits: readonly { by: number }[]): number[] {
  const sums = new Set([base]);
  for (const { by } of commits) for (const sum of [...sums]) sums.add(sum + by);
  return [...sums];
}
