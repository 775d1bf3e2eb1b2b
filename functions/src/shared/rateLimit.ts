/** Rate limits that one instance keeps in memory: token buckets, for each address and for all addresses together. */
import { isIPv6 } from "node:net";
import { withTimeout } from "../../../firestore/src/index.ts";
import type { Millis } from "../counter/time.ts";
import { Lru } from "./lru.ts";

/** So many seconds' worth may come at once, unless a burst is given. */
const BURST_SECONDS = 10;

/** A network may do what so many of its sites may, unless so many networks would use up the instance. */
const SITES_OF_NETWORK = 10;
const NETWORKS = 5;

/** How many addresses an instance remembers, at some 200 bytes each. */
const MAX_ADDRESSES = 20_000;

interface Bucket {
  readonly tokens: number;
  readonly at: Millis;
}

/**
 * Takes an amount for a key: 0 if it is within the limit, else after how many milliseconds it would be. What is refused is not taken.
 * A negative amount gives back. Time is that of a monotonic clock.
 */
export type Limit = (key: string, amount: number, now: Millis) => Millis;

export interface Rate {
  readonly perSecond: number;
  /** What may come at once. Default: ten seconds' worth. */
  readonly burst?: number;
}

/** A limit for each key. */
export function createLimit({ perSecond, burst = perSecond * BURST_SECONDS }: Rate): Limit {
  const buckets = new Lru<string, Bucket>(MAX_ADDRESSES);
  return (key, amount, now) => {
    const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
    const filled = Math.min(tokens + ((now - at) * perSecond) / 1_000, burst);
    // A larger amount passes if the bucket is full but for the request itself, and leaves a debt.
    const required = Math.min(amount, burst - 1);
    const isAllowed = amount <= 0 || filled >= required;
    buckets.set(key, { tokens: isAllowed ? Math.min(filled - amount, burst) : filled, at: now });
    return isAllowed ? 0 : Math.ceil(((required - filled) * 1_000) / perSecond);
  };
}

/**
 * Limits for each address, for each network of IPv6 (up to ten times as much), and for all addresses of the instance. An amount is taken from
 * each, or from none.
 */
export function createAddressLimit(perAddress: Rate, perInstance: Rate): Limit {
  const { perSecond, burst = perSecond * BURST_SECONDS } = perAddress;
  const { perSecond: inAll, burst: burstInAll = inAll * BURST_SECONDS } = perInstance;
  const ofNetwork = (site: number, all: number) => Math.max(site, Math.min(site * SITES_OF_NETWORK, all / NETWORKS));
  const perNetwork = { perSecond: ofNetwork(perSecond, inAll), burst: ofNetwork(burst, burstInAll) };
  const limits = [perAddress, perNetwork, perInstance].map(createLimit);
  return (address, amount, now) => {
    const keys = [...placesOf(address), ""];
    for (const [index, limit] of limits.entries()) {
      const wait = limit(keys[index] as string, amount, now);
      if (wait === 0) continue;
      for (const [taken, other] of limits.slice(0, index).entries()) other(keys[taken] as string, -amount, now);
      return wait;
    }
    return 0;
  };
}

/** So long a request waits for reads that may give back what they have taken. */
const READS_TIMEOUT: Millis = 1_000;

/**
 * Begins what a limit allows. If it does not while reads are pending, tries once more after these: what they find is given back.
 *
 * @param begin  begins it, or returns after how many milliseconds it may; 0 if it has begun
 * @param reads  those that are pending
 * @returns what the last `begin` has returned
 */
export async function beginAfterReads(begin: () => Millis, reads: () => Iterable<Promise<unknown>>): Promise<Millis> {
  const wait = begin();
  const pending = new Set(reads());
  if (wait === 0 || pending.size === 0) return wait;
  await withTimeout(READS_TIMEOUT, Promise.allSettled(pending)).catch(() => {});
  return begin();
}

/**
 * The address that a request came from: the last of `X-Forwarded-For`, which Google's front end appends. Those before it are
 * whatever the sender has written.
 */
export function addressOf(forwardedFor: string | undefined, peer: string | undefined): string {
  return forwardedFor?.split(",").at(-1)?.trim() || peer || "";
}

/** The site and the network of an address. A site of IPv6 has a /64; a hosting customer has a /48 of them, as have thousands of phones. */
function placesOf(address: string): [site: string, network: string] {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !isIPv6(address)) {
    // A copy: a part of a header would keep the whole header in memory.
    const own = Buffer.from((mapped ?? address).slice(0, 64)).toString();
    return [own, own];
  }
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [head = "", tail = ""] = hostname.slice(1, -1).split("::");
  const groups = head.split(":");
  const zeros = 8 - groups.length - (tail ? tail.split(":").length : 0);
  const all = [...groups, ...Array(Math.max(zeros, 0)).fill("0"), ...tail.split(":")];
  return [all.slice(0, 4).join(":"), all.slice(0, 3).join(":")];
}
