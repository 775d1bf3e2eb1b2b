/**
 * Users on one device: they count, like and undo, sign in and out, reload, open and close tabs, go to pages of an app with the counter and
 * without, go offline, and are refused, while others count, too. Checks at each instant that what a tab shows is possible: a total that the server had, no older one than before, and the
 * increments of the user who is signed in that it may lack; never those of another.
 */

import { type CounterRef, counter as webCounter } from "../../client/src/web/counter.ts";
import { onIncremented } from "../../client/src/web/entries.ts";
import * as web from "../../client/src/web/increment.ts";
import { type CounterState, counterStore } from "../../client/src/web/store.ts";
import { DIRECT_SLOTS, groupOf } from "../../core/src/index.ts";
import { type Random, randomFor } from "../../core/testing/random.ts";
import { startClock } from "./clock.ts";
import { Faults } from "./faults.ts";
import { connect, createNetwork } from "./model/createNetwork.ts";
import { Device, DeviceFirestore } from "./model/device.ts";
import { setDirectPolicy } from "./model/directRules.ts";
import type { Connection } from "./model/network.ts";
import { type Fields, FieldValue, isMap, type Micros, Timestamp } from "./model/values.ts";
import { plant, planted } from "./mutations/mutation.ts";
import { type PageCheck, ShownToUsers } from "./oracle/shownToUsers.ts";
import { Violation } from "./oracle/violation.ts";
import type { Options, Outcome } from "./simulate.ts";

const MS = 1_000;
const SECOND = 1_000 * MS;
const START: Micros = 1_767_225_600 * SECOND;

/** One is open, so increments go to its document; one is closed, so they go to shards. Each user likes once. */
const COUNTERS = ["likes:open", "likes:closed", "views:open", "views:closed"];
const USERS = ["ada", "bob"];

/** `wait` milliseconds after the last one. Tabs are numbered. */
export type UserAction = { readonly wait: number } & (
  | { readonly does: "count" | "like" | "unlike" | "reload" | "open tab" | "close tab" | "leave"; readonly tab: number }
  | { readonly does: "view"; readonly tab: number; readonly isRendered: boolean }
  | { readonly does: "sign in"; readonly user: string }
  | { readonly does: "offline" | "online" | "refuse" | "allow" | "publish" }
  | { readonly does: "others"; readonly by: number }
);

export interface UsersScenario {
  readonly seed: number;
  /** Whether answers are lost now and then. */
  readonly isLossy: boolean;
  readonly counter: string;
  /** Whether pages are rendered with the server's total, and its version. */
  readonly initialTotal: "none" | "number" | "with version";
  readonly actions: readonly UserAction[];
}

export function usersScenarioOf(seed: number): UsersScenario {
  const random = randomFor(seed, "users");
  const counter = random.pick(COUNTERS);
  const actions = Array.from({ length: random.integer(3, random.pick([8, 20, 40])) }, () => {
    return { wait: random.pick([0, 1, 50, 500, 3_000, 20_000]), ...randomAction(random, counter) } as UserAction;
  });
  return { seed, isLossy: true, counter, initialTotal: random.pick(["none", "number", "with version"]), actions };
}

function randomAction(random: Random, counter: string): object {
  const tab = random.integer(0, 1);
  const roll = random.next();
  if (roll < 0.35) return { does: counter.startsWith("likes") ? random.pick(["like", "unlike"]) : "count", tab };
  if (roll < 0.5) return { does: "sign in", user: random.pick([...USERS, ""]) };
  if (roll < 0.58) return { does: "reload", tab };
  if (roll < 0.63) return { does: random.pick(["open tab", "close tab"]), tab };
  if (roll < 0.67) return { does: "leave", tab };
  if (roll < 0.71) return { does: "view", tab, isRendered: random.next() < 0.5 };
  if (roll < 0.82) return { does: random.pick(["offline", "online", "online"]) };
  if (roll < 0.87) return { does: random.pick(["refuse", "allow", "allow"]) };
  return roll < 0.92 ? { does: "publish" } : { does: "others", by: random.integer(1, 3) };
}

/** What a tab shows. */
export interface ShownTab {
  readonly total: number | undefined;
  readonly pending: boolean;
  /** `undefined` without a user, or if it is not known. */
  readonly like: boolean | undefined;
}

/** A short scenario for a real device, and what each open tab shows at rest: at first, and after each action. */
export async function usersAtRest(seed: number): Promise<{
  readonly scenario: UsersScenario;
  readonly states: readonly (readonly (ShownTab | undefined)[])[];
}> {
  const random = randomFor(seed, "at rest");
  const counter = random.pick(["likes:open", "views:open", "views:closed"]);
  // So few that a generation takes them all.
  let counted = 0;
  let network = "online";
  const isTaken = (action: UserAction): boolean => {
    const { does } = action;
    if (does === "count" || does === "like" || does === "unlike") return ++counted <= 3;
    // `enableNetwork` of an enabled network may end in an internal assertion of the SDK.
    if (does === "online" || does === "offline") {
      const isChange = network !== does;
      network = does;
      return isChange;
    }
    if (does === "close tab") return action.tab > 0;
    return ["sign in", "reload", "open tab", "leave", "view"].includes(does);
  };
  const actions = Array.from({ length: 8 }, () => randomAction(random, counter) as UserAction).filter(isTaken);
  const initialTotal = random.pick(["none", "number", "with version"] as const);
  const paced = actions.map((action) => ({ ...action, wait: REST_MS, isRendered: false }));
  const scenario = { seed, isLossy: false, counter, initialTotal, actions: paced };
  const end: UserAction = { does: "allow", wait: REST_MS };
  const states: (ShownTab | undefined)[][] = [];
  const { violation } = await simulateUsers(
    { ...scenario, actions: [...paced, end] },
    { onRest: (shown) => states.push(shown) },
  );
  if (violation) throw violation;
  return { scenario, states: states.slice(0, paced.length + 1) };
}

/** After this time nothing is under way on the model's device. */
const REST_MS = 30_000;

/** An open page. */
interface Page {
  readonly firestore: DeviceFirestore;
  readonly ref: CounterRef;
  readonly check: PageCheck;
  /** Shows the counter. */
  readonly view: (isRendered: boolean) => void;
  /** Goes to a page of the app without the counter. */
  readonly leave: () => void;
  /** If the counter is shown, watches the like of the user who is signed in. */
  readonly follow: () => void;
}

export async function simulateUsers(
  { seed, counter, initialTotal, isLossy, actions }: UsersScenario,
  {
    keepHistory = false,
    mutation,
    onRest,
  }: Options & { readonly onRest?: (shown: (ShownTab | undefined)[]) => void } = {},
): Promise<Outcome> {
  plant(mutation);
  let violation: Violation | undefined;
  const history: string[] = [];
  const faults = new Faults([], 0, 0);
  const network = createNetwork({
    faults,
    log: (process, text) => record(process.name, text),
    onCommit: ({ changes, time }) => {
      commits++;
      for (const { after } of changes) {
        record("commit", () => `${after.path} = ${JSON.stringify(after.fields)}`);
        if (after.path === path) oracle.stored(after.fields, time, likedBy());
        if (after.path.startsWith(`${path}/shards/`)) scheduler.after(random.integer(300, 2_000) * MS, publish);
      }
    },
  });
  const { scheduler, database } = network;
  scheduler.now = START;
  startClock(scheduler, seed, faults);
  const record = (name: string, text: () => string) => {
    if (keepHistory && !violation) history.push(`${((scheduler.now - START) / MS).toFixed(3)} ms  ${name}: ${text()}`);
  };
  const fail = (message: string) => {
    violation ??= new Violation("shown", message);
    record("oracle", () => message);
    scheduler.isStopped = true;
  };
  const random = randomFor(seed, "device");
  const path = `counters/${counter}`;
  const oracle = new ShownToUsers(fail);
  const device = new Device(random, isLossy);
  const functions = connect(network, "functions");
  let commits = 0;
  let publishes = 0;
  setDirectPolicy((id) => id.endsWith(":open"));

  const likedBy = () => new Set(USERS.filter((user) => database.get(`${path}/tallyEntries/${user}`).fields));
  const publish = () => {
    publishes++;
    publishTotal(functions, counter, scheduler.now);
  };
  const pages: (Page | undefined)[] = [];
  const open = (tab: number) => {
    const name = `tab ${tab}`;
    const firestore = new DeviceFirestore(connect(network, name, seed + commits), device);
    const { process } = firestore.connection;
    const ref = webCounter(firestore as never, counter);
    const check = oracle.open(name);
    let stop: (() => void) | undefined;
    let stopFollowing: (() => void) | undefined;
    const show = (state: CounterState) => {
      if (process.isDead || violation) return;
      record(name, () => `shows ${JSON.stringify(state)}`);
      check.shows(state, scheduler.now);
    };
    const follow = () => {
      stopFollowing?.();
      check.showsLike(undefined);
      const { user } = device;
      const next = (like: boolean) => {
        record(name, () => `liked by ${user}: ${like}`);
        if (!process.isDead) check.showsLike(like);
      };
      stopFollowing = stop && user ? onIncremented(ref, user, { next, error: () => {} }) : undefined;
    };
    const view = (isRendered: boolean) => {
      if (stop) return;
      const { total, version: renderedVersion } = oracle.rendered();
      const version = planted.device === "pages are rendered without their version" ? 0 : renderedVersion;
      const rendered = initialTotal === "number" ? total : { total, version };
      const store = counterStore(ref, isRendered ? { initialTotal: rendered } : {});
      check.views(isRendered ? initialTotal : "none", scheduler.now);
      stop = store.subscribe(show);
      follow();
    };
    const leave = () => {
      stop?.();
      stop = undefined;
      follow();
      check.leaves(scheduler.now);
    };
    // A page that is reloaded offline has the total of before.
    view(device.isOnline && initialTotal !== "none");
    pages[tab] = { firestore, ref, check, view, leave, follow };
  };
  const close = (tab: number) => {
    pages[tab]?.firestore.close();
    pages[tab]?.leave();
    pages[tab] = undefined;
  };
  const restoreNavigator = setNavigator(device);
  if (counter.endsWith(":closed")) publish();
  open(0);

  const checkRest = () => {
    const { isKnown, fields } = device.view(`${path}/tallyEntries/${device.user}`);
    for (const page of pages) page?.check.atRest(device.queue.length > 0, isKnown ? !!fields : undefined);
    onRest?.(
      [...pages].map((page) => {
        const { state: { total, pending = false } = {}, like } = page?.check.latest ?? {};
        return page && { total, pending, like: device.user ? like : undefined };
      }),
    );
  };
  const perform = (action: UserAction) => {
    if (action.wait > 1_000) checkRest();
    record("scenario", () => JSON.stringify(action));
    const page = "tab" in action ? pages[action.tab] : undefined;
    const { user } = device;
    switch (action.does) {
      case "count":
        page?.check.calls(1, undefined, web.incrementCounter(page.ref), () => scheduler.now);
        break;
      case "like":
        if (user) page?.check.calls(1, true, web.incrementCounter(page.ref, 1, { once: user }), () => scheduler.now);
        break;
      case "unlike":
        if (user) page?.check.calls(-1, false, web.undoIncrement(page.ref, user), () => scheduler.now);
        break;
      case "reload":
        if (!page) break;
        close(action.tab);
        open(action.tab);
        break;
      case "open tab":
        if (!pages[action.tab]) open(action.tab);
        break;
      case "close tab":
        close(action.tab);
        break;
      case "leave":
        page?.leave();
        break;
      case "view":
        // The order of two numbers is not known.
        page?.view(action.isRendered && device.isOnline && initialTotal === "with version");
        break;
      case "sign in":
        oracle.signsIn(action.user, scheduler.now);
        device.signIn(action.user);
        for (const one of pages) one?.follow();
        break;
      case "offline":
      case "online":
        device.setOnline(action.does === "online");
        break;
      case "refuse":
      case "allow":
        device.isRefused = action.does === "refuse";
        break;
      case "publish":
        publish();
        break;
      case "others":
        commitAsOther(functions, counter, action.by);
    }
  };
  // At the end everything arrives: each user is online for a while, and the last one stays.
  const finish: UserAction[] = [
    { wait: 0, does: "allow" },
    { wait: 0, does: "online" },
    { wait: 0, does: "open tab", tab: 0 },
    ...[0, 1].map((tab) => ({ wait: 0, does: "view", tab, isRendered: false }) as const),
    ...["", ...USERS].map((user) => ({ wait: 60_000, does: "sign in", user }) as const),
    { wait: 60_000, does: "publish" },
  ];
  let at = scheduler.now;
  for (const action of [...actions, ...finish]) {
    at += action.wait * MS;
    scheduler.after(at - scheduler.now, () => perform(action));
  }
  await scheduler.runUntil(at + 60 * SECOND);
  if (!violation) {
    const like = counter.startsWith("likes")
      ? database.get(`${path}/tallyEntries/${device.user}`).fields !== undefined
      : undefined;
    const total = Number(database.get(path).fields?.total ?? 0);
    for (const [tab, page] of pages.entries()) if (page) oracle.atEnd(`tab ${tab}`, page.check, total, like);
  }
  for (const tab of pages.keys()) close(tab);
  restoreNavigator();
  return { violation, history, commits, publishes, faults: {}, lateness: [], unrecognizedReplays: 0 };
}

/** The code under test asks whether the device is online. @returns undoes that */
function setNavigator(device: Device): () => void {
  const real = Object.getOwnPropertyDescriptor(globalThis, "navigator") as PropertyDescriptor;
  Object.defineProperty(globalThis, "navigator", {
    configurable: true,
    value: {
      get onLine() {
        return device.isOnline;
      },
    },
  });
  return () => void Object.defineProperty(globalThis, "navigator", real);
}

/** Publishes the sum of the shards and of the direct increments, as the functions do. */
function publishTotal(connection: Connection, counter: string, now: Micros): void {
  const { database } = connection;
  const path = `counters/${counter}`;
  const asOf = Timestamp.fromMicros(database.readTime(now));
  const { direct } = database.get(path).fields ?? {};
  const shards = database.query({ collection: `${path}/shards`, filters: [] });
  const total = shards.reduce(
    (sum, { fields }) => sum + Number(fields?.count),
    isMap(direct) ? Number(direct.count) : 0,
  );
  const data = { group: groupOf(counter), total, shardCount: 1, growing: false, asOf };
  connection.commit([{ path, kind: "merge", data }]);
}

/** Another device counts: in the document if it is open, and else on a shard. */
function commitAsOther(connection: Connection, counter: string, by: number): void {
  const path = `counters/${counter}`;
  const direct = connection.database.get(path).fields?.direct as Fields | undefined;
  const count = FieldValue.increment(by);
  if (!direct) {
    const data = { shard: "9", count, writes: FieldValue.increment(1), at: FieldValue.serverTimestamp() };
    connection.commit([{ path: `${path}/shards/9`, kind: "merge", data }]);
    return;
  }
  // A generation of its own, which has more marks than a client may add, so that clients write the next one after a minute, or a shard.
  const generation = Number(direct.generation) + 1;
  const [slot, next] = [generation, generation + 1].map((one) => `${one % DIRECT_SLOTS}`) as [string, string];
  const marks = { [slot]: { at: FieldValue.serverTimestamp(), nonces: [] }, [next]: FieldValue.delete() };
  const data = { total: count, direct: { generation, count, writes: FieldValue.increment(1), marks } };
  connection.commit([{ path, kind: "merge", data }]);
}
