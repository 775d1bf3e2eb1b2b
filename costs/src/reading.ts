/**
 * What it costs to show a total to a crowd for a day: by listeners, who each pay a read for each published total, or by pages that
 * ask the function `totals` through Firebase Hosting, where each pays for the bytes of its answers.
 *
 * The crowd is there all day. Left out are the daily free amounts, and the data that Firestore sends to listeners, which favours
 * the listeners. Unlike them, a page that asks gets an answer whether or not the total has changed.
 */
import { ALTERNATIVE_PRICES } from "./alternatives.ts";
import { CALLS_PER_INSTANCE, instanceDollars } from "./instances.ts";
import { PRICES, type Prices } from "./prices.ts";

/** US dollars for a gigabyte that Firebase Hosting sends (https://firebase.google.com/pricing). */
export const HOSTING_GIGABYTE = 0.15;

/**
 * Places that keep answers, each of which asks the function when its own is too old: an assumption, of the order of what large
 * networks have.
 */
const CACHES = 100;

const DAY_SECONDS = 86_400;

export interface Crowd {
  /** At a time. */
  readonly readers: number;
  /** Seconds between two published totals. Caches keep answers for so long, in whole seconds. */
  readonly interval: number;
  /** Seconds between two requests of a page. */
  readonly period: number;
  /** Headers and body of an answer. */
  readonly answerBytes: number;
}

/** Dollars per day for listeners. */
export function listenersPerDay(
  { readers, interval }: Pick<Crowd, "readers" | "interval">,
  prices: Prices = PRICES.nam5,
) {
  return (readers * DAY_SECONDS * prices.read) / interval;
}

/** Dollars per day for pages that ask. */
export function totalsPerDay({ readers, interval, period, answerBytes }: Crowd, prices: Prices = PRICES.nam5) {
  const requests = readers / period;
  const passedOn = Math.min(requests, CACHES / Math.max(Math.floor(interval), 1));
  const instances = Math.max(Math.ceil(passedOn / CALLS_PER_INSTANCE), 1);
  const perSecond =
    (requests * answerBytes * HOSTING_GIGABYTE) / 1e9 +
    passedOn * ALTERNATIVE_PRICES.request +
    instances * prices.read +
    instanceDollars(instances);
  return perSecond * DAY_SECONDS;
}
