/** Rate limits that one instance keeps in memory: token buckets, for each address and for all addresses together. */
import { isIPv6 } from "node:net";
import type { Millis } from "../counter/time.ts";
import { Lru } from "./lru.ts";

/** So many seconds' worth may come at once, unless a burst is given. */
const BURST_SECONDS = 10;

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

/** A limit for each address, and one for all addresses of the instance. An amount is taken from both, or from neither. */
export function createAddressLimit(perAddress: Rate, perInstance: Rate): Limit {
  const ofAddress = createLimit(perAddress);
  const ofAll = createLimit(perInstance);
  return (address, amount, now) => {
    const network = networkOf(address);
    const wait = ofAddress(network, amount, now);
    if (wait > 0) return wait;
    const waitForAll = ofAll("", amount, now);
    if (waitForAll > 0) ofAddress(network, -amount, now);
    return waitForAll;
  };
}

/**
 * The address that a request came from: the last of `X-Forwarded-For`, which Google's front end appends. Those before it are
 * whatever the sender has written.
 */
export function addressOf(forwardedFor: string | undefined, peer: string | undefined): string {
  return forwardedFor?.split(",").at(-1)?.trim() || peer || "";
}

/** A site has a /48 of IPv6, so addresses with the same first three groups count as one. */
function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  // A copy: a part of a header would keep the whole header in memory.
  if (mapped !== undefined || !isIPv6(address)) return Buffer.from((mapped ?? address).slice(0, 64)).toString();
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [head = "", tail = ""] = hostname.slice(1, -1).split("::");
  const groups = head.split(":");
  const zeros = 8 - groups.length - (tail ? tail.split(":").length : 0);
  return [...groups, ...Array(Math.max(zeros, 0)).fill("0"), ...tail.split(":")].slice(0, 3).join(":");
}
