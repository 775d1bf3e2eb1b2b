/** How much each address may add per second, kept by one instance in memory: a token bucket per address. */
import { isIPv6 } from "node:net";
import type { Millis } from "../counter/time.ts";

/** So many seconds' worth of events may come at once. */
const BURST_SECONDS = 10;

/** How many addresses an instance remembers, at some 200 bytes each. Then it forgets the one that was least recently seen. */
const MAX_ADDRESSES = 20_000;

interface Bucket {
  readonly tokens: number;
  readonly at: Millis;
}

/**
 * @returns takes an amount for an address: 0 if it is within the limit, else after how many milliseconds it would be. What
 *          is refused is not taken. Time is that of a monotonic clock
 */
export function createAddressLimit(perSecond: number): (address: string, amount: number, now: Millis) => Millis {
  const burst = perSecond * BURST_SECONDS;
  const buckets = new Map<string, Bucket>();
  return (address, amount, now) => {
    const key = networkOf(address);
    const { tokens, at } = buckets.get(key) ?? { tokens: burst, at: now };
    const filled = Math.min(tokens + ((now - at) * perSecond) / 1_000, burst);
    // A larger amount passes if the bucket is full but for the request itself, and leaves a debt.
    const required = Math.min(amount, burst - 1);
    const isAllowed = filled >= required;
    buckets.delete(key);
    buckets.set(key, { tokens: isAllowed ? filled - amount : filled, at: now });
    if (buckets.size > MAX_ADDRESSES) buckets.delete(buckets.keys().next().value as string);
    return isAllowed ? 0 : Math.ceil(((required - filled) * 1_000) / perSecond);
  };
}

/**
 * The address that a request came from: the last of `X-Forwarded-For`, which Google's front end appends. Those before it are
 * whatever the sender has written.
 */
export function addressOf(forwardedFor: string | undefined, peer: string | undefined): string {
  return forwardedFor?.split(",").at(-1)?.trim() || peer || "";
}

/** A site has at least 2⁶⁴ addresses of IPv6, so the first four groups count as one. */
function networkOf(address: string): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  // A copy: a part of a header would keep the whole header in memory.
  if (mapped !== undefined || !isIPv6(address)) return Buffer.from((mapped ?? address).slice(0, 64)).toString();
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [head = "", tail = ""] = hostname.slice(1, -1).split("::");
  const groups = head.split(":");
  const zeros = 8 - groups.length - (tail ? tail.split(":").length : 0);
  return [...groups, ...Array(Math.max(zeros, 0)).fill("0"), ...tail.split(":")].slice(0, 4).join(":");
}
