/**
 * Several regions: a database and functions for each, and a network between them that is cut and heals. A region may join, and one may
 * leave. Runs one scenario, as simulate.ts does with a single database, and checks I14 at every commit.
 */
import { createHash } from "node:crypto";
import { regionSketchId, Sketch, type StoredSketch, uniquesPath, VISITOR_HASH_DIGITS } from "../../core/src/index.ts";
import { type Random, randomFor } from "../../core/testing/random.ts";
import { DEFAULT_SETTINGS } from "../../functions/src/deploy/parameters.ts";
import { intervalsOf } from "../../functions/src/features/regions/intervals.ts";
import { parseRegions, type RegionSettings } from "../../functions/src/features/regions/parseRegions.ts";
import type { Settings } from "../../functions/src/shared/feature.ts";
import type { CallOutcome } from "../../testkit/production/calls.ts";
import { startClock } from "./clock.ts";
import { CloudFunctions } from "./cloudFunctions.ts";
import { FAULTS, type Fault, Faults } from "./faults.ts";
import * as log from "./functionsSdk.ts";
import { connect, createNetwork } from "./model/createNetwork.ts";
import type { Commit, Network } from "./model/network.ts";
import { FieldValue, type Micros } from "./model/values.ts";
import { plant } from "./mutations/mutation.ts";
import { Violation } from "./oracle/violation.ts";
import { Process, Scheduler } from "./scheduler.ts";
import type { Options, Outcome } from "./simulate.ts";

const MS = 1_000;
const SECOND = 1_000 * MS;
const HOUR = 3_600 * SECOND;
/** Seconds. */
const DAY = 86_400;
const START: Micros = 1_767_225_600 * SECOND;
const COUNTERS = ["views:a", "b"];

/** An action, `at` microseconds into the run. Regions, shards and instances are numbered. */
type Action = { readonly at: number } & (
  | { readonly does: "write"; readonly region: number; readonly counter: string; readonly shard: number }
  | { readonly does: "visit"; readonly region: number; readonly counter: string; readonly visitor: number }
  | { readonly does: "cut"; readonly region: number; readonly seconds: number }
  | { readonly does: "kill" | "freeze"; readonly region: number; readonly instance: number; readonly seconds: number }
  | { readonly does: "sweep"; readonly region: number }
);

export interface RegionsScenario {
  readonly seed: number;
  readonly names: readonly string[];
  readonly config: Settings & Pick<RegionSettings, "exchangeInterval">;
  readonly faults: readonly Fault[];
  readonly faultRate: number;
  readonly latency: Micros;
  readonly instances: number;
  readonly snapshotLag: Micros;
  /** How far into the run the last region joins. Until then it has no functions, and nothing is written to it. */
  readonly joinsAt: Micros | undefined;
  /** How far into the run the clients of the first region stop. It leaves when the others have all that it has counted. */
  readonly leavesAt: Micros | undefined;
  readonly actions: readonly Action[];
}

export function regionsScenarioOf(seed: number): RegionsScenario {
  const random = randomFor(seed, "regions");
  const names = ["us", "eu", "asia", "sa"].slice(0, random.integer(2, 4));
  const minInterval = 1_000 * random.integer(1, 2);
  const isFaultless = random.chance(1 / 8);
  const share = random.next();
  const faults = FAULTS.filter(() => random.chance(share) && !isFaultless);
  const duration = SECOND * random.pick([1, 3, 10, 30, 120]);
  const snapshotLag = random.chance(0.2) ? 50 * MS : 0;
  const actions = Array.from({ length: random.integer(1, random.pick([5, 20, 60])) }, () => ({
    at: Math.round(duration * random.next()),
    ...randomAction(random, faults, names.length, snapshotLag === 0),
  }));
  const membership = randomFor(seed, "membership");
  const [joinsAt, leavesAt] = [1, 2].map(() =>
    membership.chance(0.25) ? Math.round(duration * membership.next()) : undefined,
  );
  return {
    seed,
    names,
    joinsAt,
    leavesAt,
    config: {
      ...DEFAULT_SETTINGS,
      maxShards: 4,
      shrinkCooldown: 120_000,
      minInterval,
      maxInterval: minInterval + 1_000 * random.pick([0, 2, 10]),
      precision: random.pick([0, 0.001]),
      direct: false,
      visitors: "yes",
      items: true,
      windows: { groups: "all", timeZone: "UTC" },
      exchangeInterval: 1_000 * random.pick([1, 2, 10]),
    },
    faults,
    faultRate: random.pick([0.02, 0.1, 0.3]),
    latency: random.pick([5, 20, 200, 1_500]) * MS,
    instances: random.integer(1, 2),
    snapshotLag,
    actions: actions.sort((a, b) => a.at - b.at) as Action[],
  };
}

/** @param mayVisit  not where queries lag behind documents, as in the emulator: a union of sketches may then lack one */
function randomAction(random: Random, faults: readonly Fault[], regions: number, mayVisit: boolean): object {
  const region = random.integer(0, regions - 1);
  const seconds = random.pick([0.1, 1, 5, 60]);
  const instance = random.integer(0, 1);
  const counter = random.pick(COUNTERS);
  // Mostly shard 0, so that a counter is idle and nothing repairs what an exchange has missed.
  const shard = random.chance(0.8) ? 0 : random.integer(1, 3);
  const roll = random.next();
  if (faults.includes("crashes") && roll < 0.1) return { does: "kill", region, instance, seconds };
  if (faults.includes("freezes") && roll < 0.2) return { does: "freeze", region, instance, seconds };
  if (faults.length > 0 && roll < 0.3) return { does: "cut", region, seconds: random.chance(0.01) ? DAY : seconds };
  if (roll < 0.35) return { does: "sweep", region };
  if (mayVisit && roll > 0.8) return { does: "visit", region, counter, visitor: random.integer(0, 7) };
  return { does: "write", region, counter, shard };
}

/** The faults of calls from one region to another. */
class LinkFaults extends Faults {
  readonly #isCut: () => boolean;

  constructor(scenario: RegionsScenario, isCut: () => boolean) {
    super(scenario.faults, scenario.faultRate, scenario.latency);
    this.#isCut = isCut;
  }

  override callOutcome(process: Process): CallOutcome {
    const outcome = super.callOutcome(process);
    if (!this.#isCut()) return outcome;
    // Half of the calls still arrive.
    return { ...outcome, kind: process.random.chance(0.5) ? "lost" : "answer lost" };
  }
}

export async function simulateRegions(
  scenario: RegionsScenario,
  { keepHistory = false, mutation }: Options = {},
): Promise<Outcome> {
  plant(mutation);
  const { seed, names, joinsAt, leavesAt, actions } = scenario;
  const scheduler = new Scheduler(START);
  const history: string[] = [];
  const record = (name: string, text: () => string) => {
    if (keepHistory && !scheduler.isStopped)
      history.push(`${((scheduler.now - START) / MS).toFixed(3).padStart(12)} ms  ${name}: ${text()}`);
  };
  log.logTo((message, data) => {
    if (data !== undefined) record("log", () => `${message} ${JSON.stringify(data)}`);
  });
  let violation: Violation | undefined;
  const fail = (text: string) => {
    violation ??= new Violation("I14", text);
    record("oracle", () => text);
    scheduler.isStopped = true;
  };
  const counts = { commits: 0, publishes: 0 };
  const counted = new Map<string, number>();
  /** What a region has counted in a counter. */
  const countedIn = new Map<string, number>();
  /** The hashes of a counter's visitors, and those of a region. */
  const visited = new Map<string, Set<string>>();
  const visitedIn = new Map<string, Set<string>>();
  const shown = new Map<string, number>();
  const cutUntil = new Map<string, Micros>();
  const faults = new Faults(scenario.faults, scenario.faultRate, scenario.latency);
  startClock(scheduler, seed, faults);
  const links: LinkFaults[] = [];

  const networkOf = (name: string) =>
    createNetwork({
      scheduler,
      faults,
      snapshotLag: scenario.snapshotLag,
      log: (process, text) => record(`${name} ${process.name}`, text),
      onCommit: (commit) => observe(name, commit),
    });
  const networks = new Map(names.map((name) => [name, networkOf(name)]));
  let members = joinsAt === undefined ? names : names.slice(0, -1);
  /** Regions that are about to join or leave. */
  let unfinished = 0;
  /** The clients of this region have stopped. */
  let leaving: string | undefined;
  const functions = new Map(members.map((name) => [name, start(name)]));
  const operator = new Process("operator", seed);
  const joined = joinsAt === undefined ? undefined : scheduler.sleep(joinsAt).then(join);
  if (leavesAt !== undefined) void Promise.all([scheduler.sleep(leavesAt), joined]).then(leave);

  for (const action of actions) {
    scheduler.after(action.at, () => {
      record("scenario", () => JSON.stringify(action));
      perform(action);
    });
  }
  await scheduler.runUntil(START + (actions.at(-1)?.at ?? 0) + 600 * SECOND);
  for (const one of [faults, ...links]) one.isEnabled = false;
  await scheduler.runUntil(scheduler.now + 48 * HOUR);
  // An attempt that has failed may name a region after a later one has ended. The next publish corrects that.
  const late: readonly Fault[] = ["calls that arrive late", "calls sent twice", "slow calls", "freezes"];
  const mayNameLate = late.some((fault) => scenario.faults.includes(fault));
  if (unfinished > 0) fail("a region has not joined or not left");
  for (const name of members) {
    for (const [counter, truth] of counted) {
      const { globalTotal, unreachable } = networks.get(name)?.database.get(`counters/${counter}`).fields ?? {};
      if (globalTotal !== truth) fail(`in the end ${name} shows ${globalTotal} of ${truth} in ${counter}`);
      if (unreachable !== undefined && !mayNameLate)
        fail(`in the end ${name} does not reach ${Object.keys(unreachable as object)}`);
    }
    for (const [counter, { size }] of visited) {
      const { globalUniques } = networks.get(name)?.database.get(`counters/${counter}`).fields ?? {};
      if (globalUniques !== size) fail(`in the end ${name} shows ${globalUniques} of ${size} visitors of ${counter}`);
    }
  }
  const injected = Object.assign({}, ...[...functions.values()].map((one) => one.injected), faults.injected);
  return { violation, history, ...counts, faults: injected, lateness: [], unrecognizedReplays: 0 };

  function start(name: string): CloudFunctions {
    const { config, others } = deployment(name);
    const own = { ...scenario, seed: seed + names.indexOf(name), config };
    return new CloudFunctions(networks.get(name) as Network, own, () => {}, others);
  }

  /** The configuration of a region, and its networks to the others. */
  function deployment(name: string): { config: Settings; others: Map<string, Network> } {
    const isCut = (other: string) => () => [name, other].some((region) => (cutUntil.get(region) ?? 0) > scheduler.now);
    const others = members
      .filter((other) => other !== name)
      .map((other): [string, Network] => {
        const link = new LinkFaults(scenario, isCut(other));
        links.push(link);
        return [other, { ...(networks.get(other) as Network), faults: link }];
      });
    const list = members.map((one) => `${one}=${one}`).join();
    // An app with one database has no `REGIONS`; one that had others keeps the last.
    const regions = members.length === 1 && name === names[0] ? undefined : parseRegions(list, name);
    const { exchangeInterval, ...intervals } = intervalsOf(scenario.config, members.length);
    const config = { ...scenario.config, ...intervals, regions: regions && { ...regions, exchangeInterval } };
    return { config, others: new Map(others) };
  }

  /** Deploys the functions of each region with a new list, at different times, and waits until the old instances have ended. */
  async function deploy(regions: readonly string[]): Promise<void> {
    members = regions;
    const deployAt = async (name: string) => {
      await scheduler.sleep(operator.random.between(0, 60) * SECOND);
      const { config, others } = deployment(name);
      const deployed = functions.get(name);
      if (deployed) deployed.deploy(config, others);
      else functions.set(name, start(name));
      record("operator", () => `deploys ${name}`);
    };
    await Promise.all(regions.map(deployAt));
    await scheduler.sleep(120 * SECOND);
  }

  async function join(): Promise<void> {
    unfinished++;
    const old = members;
    await deploy(names);
    for (const name of old) for (const counter of COUNTERS) await functions.get(name)?.exchange(counter);
    unfinished--;
  }

  /** Takes the first region away, once the others show what it has counted. */
  async function leave(): Promise<void> {
    unfinished++;
    const name = names[0] as string;
    leaving = name;
    const rest = members.filter((one) => one !== name);
    while (!COUNTERS.every((counter) => rest.every((other) => hasAll(other, name, counter)))) {
      await scheduler.sleep(10 * SECOND);
    }
    await deploy(rest);
    functions.get(name)?.remove();
    functions.delete(name);
    unfinished--;
  }

  function hasAll(region: string, other: string, counter: string): boolean {
    const registers = networks.get(region)?.database.get(`counters/${counter}`).fields?.regions;
    const register = (registers as Record<string, { total: number } | null> | undefined)?.[other];
    const sketch = networks
      .get(region)
      ?.database.get(`counters/${counter}/tallySketches/${regionSketchId(other)}`).fields;
    const known = sketch ? Math.round(Sketch.parse(sketch as unknown as StoredSketch).estimate()) : 0;
    const [count, { size }] = [
      countedIn.get(`${other} ${counter}`) ?? 0,
      visitedIn.get(`${other} ${counter}`) ?? new Set(),
    ];
    return (register?.total ?? 0) === count && known === size;
  }

  function perform(action: Action): void {
    const name = names[action.region] as string;
    const own = functions.get(name);
    const isUse = action.does === "write" || action.does === "visit";
    if (!own || (isUse && name === leaving)) return;
    if (action.does === "write") write(networks.get(name) as Network, action);
    else if (action.does === "visit") visit(networks.get(name) as Network, action);
    else if (action.does === "sweep") own.sweep();
    else if (action.does === "cut") cutUntil.set(name, scheduler.now + action.seconds * SECOND);
    else if (action.does === "kill") own.kill(action.instance);
    else own.freeze(action.instance, action.seconds * SECOND);
  }

  function write(network: Network, { counter, shard }: { counter: string; shard: number }): void {
    const path = `counters/${counter}/shards/${shard}`;
    const data = { shard: `${shard}`, count: FieldValue.increment(1), writes: FieldValue.increment(1) };
    connect(network, "writer", seed).commit([{ path, kind: "merge", data }]);
  }

  function visit(network: Network, { counter, visitor }: { counter: string; visitor: number }): void {
    const hash = createHash("sha256").update(`${visitor}`).digest("hex").slice(0, VISITOR_HASH_DIGITS);
    const path = `${uniquesPath(`counters/${counter}`)}/${hash[0]}`;
    const data = { visitors: FieldValue.arrayUnion(hash) };
    connect(network, "visitor", seed).commit([{ path, kind: "merge", data }]);
  }

  /** What a region shows never exceeds what all have counted, and never steps back. */
  function observe(name: string, commit: Commit): void {
    counts.commits++;
    for (const { before, after } of commit.changes) {
      record(`${name} ${commit.process.name}`, () => `  ${after.path} = ${JSON.stringify(after.fields)}`);
      const [, counter = "", collection] = after.path.split("/");
      const countOf = (fields: typeof after.fields) => Number(fields?.count ?? 0);
      if (collection === "shards") {
        const by = countOf(after.fields) - countOf(before.fields);
        counted.set(counter, (counted.get(counter) ?? 0) + by);
        countedIn.set(`${name} ${counter}`, (countedIn.get(`${name} ${counter}`) ?? 0) + by);
      }
      if (collection === "tallyVisitors") {
        for (const hash of (after.fields?.visitors ?? []) as string[]) {
          addTo(visited, counter, hash);
          addTo(visitedIn, `${name} ${counter}`, hash);
        }
      }
      if (collection !== undefined) continue;
      if (after.fields?.globalTotal !== undefined) counts.publishes++;
      check(name, counter, "globalTotal", after.fields?.globalTotal, counted.get(counter) ?? 0);
      check(name, counter, "globalUniques", after.fields?.globalUniques, visited.get(counter)?.size ?? 0);
    }
    functions.get(name)?.onCommit(commit);
  }

  function check(name: string, counter: string, field: string, value: unknown, truth: number): void {
    if (value === undefined) return;
    const key = `${field} of ${counter} in ${name}`;
    const before = shown.get(key) ?? 0;
    if (Number(value) > truth) fail(`${key} is ${value}, though ${truth} are counted`);
    if (Number(value) < before) fail(`${key} steps back from ${before} to ${value}`);
    shown.set(key, Number(value));
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, element: string): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(element));
}
