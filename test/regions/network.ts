/**
 * The network between the functions of one region and the databases of the others: each message takes a round trip, and a region that is
 * cut off gets and gives no answers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import type { Message } from "../../testkit/firestoreMessages.ts";
import { type GrpcProxy, Refused, startProxy } from "../../testkit/grpcProxy.ts";
import { CODEBASES, databaseOf, REGIONS, type Region, roundTrip } from "./regions.ts";

export class Network {
  readonly #cutOff = new Set<Region>();
  readonly #proxies: GrpcProxy[] = [];
  readonly codebases = CODEBASES;

  /** Starts a proxy for the functions of each region. @returns the addresses, by database */
  readonly connect = async (firestore: string): Promise<Record<string, string>> => {
    const addresses: Record<string, string> = {};
    for (const region of REGIONS) {
      const inspector = { request: (message: Message) => this.#pass(region, message) };
      const proxy = await startProxy(firestore, [() => inspector]);
      this.#proxies.push(proxy);
      addresses[databaseOf(region)] = proxy.address;
    }
    return addresses;
  };

  /** Cuts a region off from all others. Its own clients and functions still reach its database. */
  cutOff(region: Region): void {
    this.#cutOff.add(region);
  }

  heal(): void {
    this.#cutOff.clear();
  }

  close(): void {
    for (const proxy of this.#proxies) proxy.close();
  }

  async #pass(from: Region, message: Message): Promise<void> {
    const { database, parent } = message.as<{ database?: string; parent?: string }>();
    const to = REGIONS.find((region) => (database || parent || "").split("/")[3] === databaseOf(region));
    if (!to || to === from) return;
    const isCut = () => this.#cutOff.has(from) || this.#cutOff.has(to);
    if (!isCut()) await sleep(roundTrip(from, to));
    if (isCut()) throw new Refused(status.UNAVAILABLE, `${from} cannot reach ${to}`);
  }
}
