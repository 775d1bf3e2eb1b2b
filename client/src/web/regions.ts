/**
 * Regions: one database per region, and a client that counts in the nearest one that answers.
 *
 * Each increment is sent to one region alone. It stays there, in the SDK's queue, if the region does not answer; the next ones
 * go to another. So nothing counts twice. The total is a sum over the regions: of each the latest register that any region has
 * told, plus the increments of this client that this register cannot have yet. So the total does not fall when another region
 * tells a register.
 */
import type { DocumentSnapshot, Firestore, FirestoreError, Timestamp } from "firebase/firestore";
import {
  CounterError,
  type CounterObserver,
  type CounterOptions,
  givenAmount,
  microsOf,
  observing,
  toSnapshot,
  valid,
} from "../../../core/src/index.ts";
import { type CounterRef, counter, counterDoc, counterOf, documentRead, logFailure } from "./counter.ts";
import { incrementCounter } from "./increment.ts";
import { keepListening } from "./listening.ts";
import { type Choice, chooseRegion } from "./nearestRegion.ts";
import { ownIncrements } from "./ownIncrements.ts";

/** Options of {@link connectRegions}. */
export interface RegionsOptions {
  /**
   * Milliseconds that a region may take to acknowledge an increment or to tell a total, before another one is used. Default
   * 5,000.
   */
  timeout?: number | undefined;
}

/** The databases of several regions, of which one is used. */
export interface Regions {
  /** The name of the region that is used; `undefined` until the first one has answered. */
  readonly current: string | undefined;
}

/** Names one counter of all regions. */
export interface GlobalCounterRef {
  /** The regions that count it. */
  readonly regions: Regions;
  /** The id of its counter in each region. */
  readonly id: string;
}

/** Regions with their internal state. */
interface ConnectedRegions extends Regions {
  readonly _databases: Readonly<Record<string, Firestore>>;
  readonly _choice: Choice;
}

/** A reference with its internal state. */
interface GlobalCounter extends GlobalCounterRef {
  readonly _refs: Readonly<Record<string, CounterRef>>;
  readonly _path: string;
  readonly _choice: Choice;
}

/** The sum of all regions. */
export interface GlobalCounterSnapshot {
  /** The increments of all regions, as far as the region that told it has heard of them, and those of this client. */
  readonly total: number;
  /** Whether `total` includes increments of this client that were not acknowledged yet. */
  readonly pending: boolean;
  /** The region that told it. */
  readonly region: string;
  /** The instant for which the part of each region is exact; `null` for one that has told nothing. */
  readonly asOf: Readonly<Record<string, Timestamp | null>>;
}

const TIMEOUT_MS = 5_000;

/**
 * Connects an app to the databases of several regions. The first increment or watch looks for the nearest: the one that answers
 * first.
 *
 * Cost: none; later 1 read per region to look for the nearest, and again whenever the one that is used does not answer, and
 * every minute in which another is used.
 *
 * @param databases - name of a region, as in the parameter `REGIONS`, → its database
 * @throws CounterError `counter/invalid-option` without a database
 *
 * @example
 * ```ts
 * const regions = connectRegions({ us: getFirestore(app), eu: getFirestore(app, "tally-eu") });
 * const views = globalCounter(regions, "views:home");
 * await incrementGlobalCounter(views);
 * ```
 */
export function connectRegions(
  databases: Readonly<Record<string, Firestore>>,
  { timeout = TIMEOUT_MS }: RegionsOptions = {},
): Regions {
  if (Object.keys(databases ?? {}).length === 0)
    throw new CounterError("counter/invalid-option", "databases is empty; pass one per region");
  const choice = chooseRegion(databases, timeout);
  const regions: ConnectedRegions = {
    get current() {
      return choice._current();
    },
    _databases: databases,
    _choice: choice,
  };
  return Object.freeze(regions);
}

/**
 * Refers to a counter that all regions count. No I/O.
 *
 * @param id - any Firestore document id, as for {@link counter}
 * @throws CounterError as {@link counter}; `counter/invalid-reference` for what {@link connectRegions} has not made
 *
 * @example
 * ```ts
 * const views = globalCounter(regions, "views:home");
 * ```
 */
export function globalCounter(regions: Regions, id: string, options?: CounterOptions): GlobalCounterRef {
  const { _databases, _choice }: Partial<ConnectedRegions> = Object(regions);
  if (!_databases || !_choice) return valid(false, "reference", regions, "what connectRegions() returns");
  const refs = Object.entries(_databases).map(([name, database]) => [name, counter(database, id, options)] as const);
  const [[, { path }]] = refs as [(typeof refs)[number]];
  const ref: GlobalCounter = { regions, id, _refs: Object.fromEntries(refs), _path: path, _choice };
  return Object.freeze(ref);
}

function stateOf(ref: GlobalCounterRef): GlobalCounter {
  return valid((ref as GlobalCounter | undefined)?._refs, "reference", ref, "what globalCounter() returns");
}

/**
 * Adds `by` in the region that is used, as `incrementCounter` does, without `once`. While that region does not answer, the
 * promise stays pending, and later increments go to another region.
 *
 * Cost: as `incrementCounter`; the first call of a page may read a document of each region, to find the nearest.
 *
 * @throws as `incrementCounter`
 *
 * @example
 * ```ts
 * await incrementGlobalCounter(globalCounter(regions, "views:home"));
 * ```
 */
export function incrementGlobalCounter(ref: GlobalCounterRef, by?: number): Promise<void>;
export async function incrementGlobalCounter(ref: GlobalCounterRef, ...given: [by?: number]): Promise<void> {
  const { _refs, _path, _choice } = stateOf(ref);
  const by = givenAmount(given);
  const region = await _choice._nearest(_path);
  const stopWaiting = _choice._awaitAnswer(region, _path);
  try {
    await incrementCounter(_refs[region] as CounterRef, by);
  } finally {
    stopWaiting();
  }
}

/**
 * Refers to the counter of one region, for everything that the calls of a global counter do not have. No I/O. Whatever counts once
 * per user counts once per user and region, so each user needs a region of their own: choose it once, and keep it with the user's
 * profile.
 *
 * @throws CounterError `counter/invalid-option` for a region that is not connected
 *
 * @example
 * ```ts
 * const likes = regionalCounter(globalCounter(regions, "likes:post42"), user.region);
 * await incrementCounter(likes, 1, { once: user.uid });
 * ```
 */
export function regionalCounter(ref: GlobalCounterRef, region: string): CounterRef {
  const { _refs } = stateOf(ref);
  // Not a name that every object has.
  if (Object.hasOwn(_refs, region)) return _refs[region] as CounterRef;
  throw new CounterError("counter/invalid-option", `region is "${region}"; pass one of ${Object.keys(_refs)}`);
}

/**
 * Watches the sum of all regions, increments of this client included. Cost: 1 read for each total that the region publishes
 * and for each that arrives there from another.
 *
 * @returns a function that ends the watch
 *
 * @example
 * ```ts
 * const stop = onGlobalCounter(views, ({ total }) => { label.textContent = `${total} views`; });
 * ```
 */
export function onGlobalCounter(
  ref: GlobalCounterRef,
  observer: CounterObserver<GlobalCounterSnapshot, FirestoreError>,
): () => void {
  const { _refs: refs, _path: path, _choice } = stateOf(ref);
  const { _nearest, _awaitAnswer, _listeners } = _choice;
  const [next, error] = observing(observer, logFailure);
  const names = Object.keys(refs);
  const own = new Map(names.map((name) => [name, ownIncrements(counterOf(refs[name] as CounterRef))]));
  const asOf: Record<string, Timestamp | null> = Object.fromEntries(names.map((name) => [name, null]));
  /** Totals of regions that this app does not connect to, such as one that was taken away. */
  const others = new Map<string, { readonly total: number; readonly asOf: Timestamp }>();
  let region: string | undefined;
  let listening: string | undefined;
  let stop: (() => void) | undefined;
  let hasEnded = false;

  const show = () => {
    if (region === undefined || hasEnded) return;
    const parts = [...own.values()];
    const totals = [...parts.map(({ _total }) => _total), ...[...others.values()].map(({ total }) => total)];
    next({
      total: totals.reduce((sum, total) => sum + total, 0),
      pending: parts.some(({ _pending }) => _pending),
      region,
      asOf: { ...asOf },
    });
  };
  const totalRead = (name: string, total: number, at: Timestamp | null, fromCache: boolean) => {
    const known = asOf[name] ?? others.get(name)?.asOf;
    // Without an instant the counter was deleted there, unless only the cache lacks it.
    if (at ? microsOf(at) < microsOf(known) : fromCache) return;
    const part = own.get(name);
    if (part) {
      asOf[name] = at;
      const instant = microsOf(at);
      part._totalRead({
        total,
        asOf: instant,
        version: instant,
        source: fromCache ? "cache" : name === listening ? "server" : "copy",
      });
    } else if (at) others.set(name, { total, asOf: at });
  };
  const listen = async () => {
    const name = await _nearest(path);
    if (hasEnded || name === listening) return;
    stop?.();
    listening = name;
    const ref = refs[name] as CounterRef;
    let stopWaiting: (() => void) | undefined = _awaitAnswer(name, path);
    const answered = () => {
      stopWaiting?.();
      stopWaiting = undefined;
    };
    const received = (document: DocumentSnapshot) => {
      const { fromCache } = document.metadata;
      if (fromCache) stopWaiting ??= _awaitAnswer(name, path);
      else answered();
      const snapshot = toSnapshot<Timestamp>(document, fromCache, 0);
      documentRead(counterOf(ref), document);
      totalRead(name, snapshot.total, snapshot.asOf, fromCache);
      for (const [other, register] of Object.entries(snapshot.regions)) {
        if (register) totalRead(other, register.total, register.asOf, fromCache);
      }
      region = name;
      show();
    };
    const end = keepListening(counterDoc(ref), received, (reason) => {
      // A refusal is an answer, too.
      answered();
      error(reason);
    });
    stop = () => {
      answered();
      end();
    };
  };
  const unsubscribe = [...own.values()].map((part) => part._subscribe(show));
  const leave = () => {
    hasEnded = true;
    _listeners.delete(listen);
    stop?.();
    for (const end of unsubscribe) end();
  };
  _listeners.add(listen);
  void listen();
  return leave;
}
