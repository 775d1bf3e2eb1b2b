/**
 * Gathers what requests and messages bring, and commits it in groups. Each waits for the group that it is in.
 *
 * A group is what arrives within {@link WINDOW}, or while {@link MAX_COMMITS} commits are pending. So the number of commits hardly
 * depends on the number of requests. What waits is bounded: beyond {@link MAX_WAITING} events, an instance refuses more. What the
 * instance has committed lately is answered at once if it is sent again.
 */
import { createHash } from "node:crypto";
import type { Millis } from "../../counter/time.ts";
import { Lru } from "../../shared/lru.ts";
import type { Unit } from "./events.ts";

/** The longest time that the first request of a group waits for others. */
const WINDOW: Millis = 200;

/** How many commits of an instance are pending at most. Several, so that a slow one does not hold up the others. */
const MAX_COMMITS = 4;

/** How many writes a group has, unless a single request has more: one for each id and counter. A commit has 10 MiB at most. */
const MAX_WRITES = 500;

/** How many events of an instance wait for a commit, or are in one: some 20 MB with their requests. */
export const MAX_WAITING = 20_000;

/** How many ids of committed units an instance remembers, at some 150 bytes each. */
const MAX_REMEMBERED = 20_000;

/** The memory of one request, in events. */
export const REQUEST = 20;

/** How many events have counted, and how many of others have counted before. */
export interface IngestResult {
  readonly counted: number;
  readonly duplicates: number;
}

/** More waits than an instance can hold. What was refused does not count. */
export class Overloaded extends Error {}

/** Units that are committed together. */
interface Request {
  readonly units: readonly Unit[];
  readonly resolve: (duplicates: ReadonlySet<Unit>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param commit  commits units with different ids together, and returns those that have counted already
 * @param sleep   resolves after the given time
 * @returns       adds units to the next group; resolves when they are committed
 * @throws Overloaded; the error of the commit
 */
export function createGrouping(
  commit: (units: readonly Unit[]) => Promise<ReadonlySet<Unit>>,
  sleep: (duration: Millis) => Promise<void>,
): (units: readonly Unit[]) => Promise<IngestResult> {
  const queue: Request[] = [];
  const pending = new Map<string, Promise<unknown>>();
  const committed = new Lru<string, true>(MAX_REMEMBERED);
  let commits = 0;
  let waiting = 0;
  let isOpen = false;

  return async (units) => {
    const load = countEvents(units) + REQUEST;
    if (waiting + load > MAX_WAITING) throw new Overloaded("too many events wait");
    waiting += load;
    try {
      return await add(units);
    } finally {
      waiting -= load;
    }
  };

  async function add(units: readonly Unit[]): Promise<IngestResult> {
    const named = units.map((unit) => ({ unit, name: nameOf(unit) ?? "" }));
    const fresh = named.filter(({ name }) => !committed.get(name));
    // The same id may be sent again while it is being committed.
    const others = fresh.flatMap(({ name }) => pending.get(name) ?? []);
    const own = fresh.filter(({ name }) => !pending.has(name));
    const names = own.flatMap(({ name }) => name || []);
    const ownUnits = own.map(({ unit }) => unit);
    const [duplicates] = await Promise.all([own.length > 0 ? enqueue(ownUnits, names) : new Set<Unit>(), ...others]);
    const counted = countEvents(ownUnits.filter((unit) => !duplicates.has(unit)));
    return { counted, duplicates: countEvents(units) - counted };
  }

  function enqueue(units: readonly Unit[], names: readonly string[]): Promise<ReadonlySet<Unit>> {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlySet<Unit>>();
    for (const name of names) pending.set(name, promise);
    queue.push({ units, resolve, reject });
    if (!isOpen) void openGroup();
    return promise
      .then((duplicates) => {
        for (const name of names) committed.set(name, true);
        return duplicates;
      })
      .finally(() => {
        for (const name of names) pending.delete(name);
      });
  }

  /** Commits what is in the queue after the window, if a commit is free. */
  async function openGroup(): Promise<void> {
    isOpen = true;
    await sleep(WINDOW);
    isOpen = false;
    while (queue.length > 0 && commits < MAX_COMMITS) void commitGroup();
  }

  async function commitGroup(): Promise<void> {
    const group = takeGroup(queue);
    commits++;
    try {
      const duplicates = await commit(group.flatMap(({ units }) => units));
      for (const { resolve } of group) resolve(duplicates);
    } catch (error) {
      await rejectOrCommitAlone(group, error);
    }
    commits--;
    if (queue.length > 0 && !isOpen) await commitGroup();
  }

  /** After an error that one of the requests may have caused, commits each alone. */
  async function rejectOrCommitAlone(group: readonly Request[], error: unknown): Promise<void> {
    const isUnknown = (error as { code?: unknown }).code === "counter/unknown-outcome";
    for (const { units, resolve, reject } of group) {
      if (isUnknown || group.length === 1) reject(error);
      else await commit(units).then(resolve, reject);
    }
  }
}

/** The first requests of the queue, at least one. A request is not divided, so that it counts as a whole. */
function takeGroup(queue: Request[]): Request[] {
  const names = new Set<string>();
  let ids = 0;
  const end = queue.findIndex(({ units }, index) => {
    for (const { id, events } of units) {
      if (id !== undefined) ids++;
      for (const { counter } of events) names.add(counter);
    }
    return index > 0 && ids + names.size > MAX_WRITES;
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

/** The key of a unit among all that an instance commits, of bounded length; `undefined` without an id. */
function nameOf({ id, of, events: [first] }: Unit): string | undefined {
  if (id === undefined) return undefined;
  const name = JSON.stringify([of, id, ...(of === "event" ? [first?.counter] : [])]);
  return createHash("sha256").update(name).digest("base64url");
}

function countEvents(units: readonly Unit[]): number {
  return units.reduce((sum, { events }) => sum + events.length, 0);
}
