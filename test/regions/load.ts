/** Web clients and a server that count in each region, and what each region shows meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { deleteApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import type { Firestore } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { incrementCounter as incrementOnServer, counter as serverCounter } from "firestore-tally/admin";
import { databaseOf, REGIONS, type Region } from "./regions.ts";

/** Web clients of a region. Each has up to ten writes under way. */
const CLIENTS = 10;

/** What a region has shown: a global total, and the truth then. */
export interface Seen {
  readonly total: number;
  readonly truth: number;
}

export class Load {
  readonly #id: string;
  readonly #databases: Readonly<Record<Region, Firestore>>;
  readonly #counting: { end: () => void; ended: Promise<void> }[] = [];
  /** How many increments were made. */
  made = 0;
  /** Milliseconds that the slowest took. */
  slowest = 0;
  readonly seen: Record<Region, Seen[]>;
  readonly #stopWatching: (() => void)[];

  /** @param databases  those that are watched */
  constructor(id: string, databases: Readonly<Record<Region, Firestore>>) {
    this.#id = id;
    this.#databases = databases;
    this.seen = Object.fromEntries(REGIONS.map((region) => [region, [] as Seen[]])) as Record<Region, Seen[]>;
    this.#stopWatching = REGIONS.map((region) =>
      databases[region].doc(`counters/${id}`).onSnapshot((document) => {
        const total = document.get("globalTotal");
        if (total !== undefined) this.seen[region].push({ total, truth: this.made });
      }),
    );
  }

  /** Counts in a region until `stop`: so many times a second by web clients, and by a server. */
  start(region: Region, rate: number, serverRate = 0): void {
    let isEnding = false;
    const sources = Array.from({ length: CLIENTS }, (_, n) => this.#client(region, rate / CLIENTS, n, () => isEnding));
    if (serverRate > 0) sources.push(this.#server(region, serverRate, () => isEnding));
    const end = () => {
      isEnding = true;
    };
    this.#counting.push({ end, ended: Promise.all(sources).then(() => {}) });
  }

  /** Resolves when all increments are acknowledged. */
  async stop(): Promise<void> {
    for (const { end } of this.#counting) end();
    await Promise.all(this.#counting.map(({ ended }) => ended));
  }

  async #client(region: Region, rate: number, n: number, isEnding: () => boolean): Promise<void> {
    const app = initializeApp(
      { projectId: process.env.GCLOUD_PROJECT as string, apiKey: "any" },
      `${this.#id} ${region} ${n}`,
    );
    const db = getFirestore(app, databaseOf(region));
    const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
    connectFirestoreEmulator(db, host, Number(port));
    const ref = counter(db, this.#id);
    await this.#repeat(rate, (n * 1_000) / rate / CLIENTS, isEnding, () => incrementCounter(ref));
    await deleteApp(app);
  }

  async #server(region: Region, rate: number, isEnding: () => boolean): Promise<void> {
    const ref = serverCounter(this.#databases[region], this.#id);
    await this.#repeat(rate, 0, isEnding, () => incrementOnServer(ref));
  }

  /** @param delay  milliseconds before the first */
  async #repeat(rate: number, delay: number, isEnding: () => boolean, make: () => Promise<void>): Promise<void> {
    const calls: Promise<void>[] = [];
    const start = performance.now() + delay;
    for (let call = 0; ; call++) {
      await sleep(Math.max(0, start + (call * 1_000) / rate - performance.now()));
      if (isEnding()) break;
      calls.push(this.#increment(make));
    }
    await Promise.all(calls);
  }

  async #increment(make: () => Promise<void>): Promise<void> {
    this.made++;
    const began = performance.now();
    await make();
    this.slowest = Math.max(this.slowest, performance.now() - began);
  }

  /** The totals that the regions show now. */
  shown(): (number | undefined)[] {
    return REGIONS.map((region) => this.seen[region].at(-1)?.total);
  }

  /** Waits until the regions show the truth, or for two minutes. @returns seconds */
  async untilExact(): Promise<number> {
    const began = performance.now();
    while (this.shown().some((total) => total !== this.made) && performance.now() - began < 120_000) await sleep(20);
    return (performance.now() - began) / 1_000;
  }

  /** Counts and watches no longer. Does not wait for what is under way. */
  close(): void {
    for (const { end } of this.#counting) end();
    for (const stop of this.#stopWatching) stop();
  }
}
