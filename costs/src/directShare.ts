/**
 * Which part of a counter's increments clients write to the counter document, where no function runs: if they arrive evenly, at random.
 * The document takes them by the generation, {@link MAX_DIRECT_MARKS} each. What comes after a full one depends on how long it took:
 *
 *     a minute or more        the next increment begins the next generation
 *     between                 the next increment goes to the shard; its publish begins the next generation
 *     less than 20 seconds    increments go to the shard for two minutes, and then until one comes late enough to show a calm counter
 */
import { MAX_DIRECT_MARKS, SLOW_GENERATION_SECONDS } from "../../core/src/index.ts";
import { CALM_RATE, CLOSED_TIME, FAST_GENERATION } from "../../functions/src/decisions.ts";

/** @param rate  increments per second */
export function directShare(rate: number): number {
  const slow = (increments: number) => fewerArrive(increments, rate * SLOW_GENERATION_SECONDS);
  const fast = (increments: number) => 1 - fewerArrive(increments, (rate * FAST_GENERATION) / 1_000);
  // From the last mark of one generation to that of the next: the increment before a publish comes in between.
  const [begunByClient, begunByPublish] = [MAX_DIRECT_MARKS, MAX_DIRECT_MARKS + 1];
  const byClients = slow(begunByPublish) / (1 - slow(begunByClient) + slow(begunByPublish));
  const closed = byClients * fast(begunByClient) + (1 - byClients) * fast(begunByPublish);
  const untilCalm = (rate * CLOSED_TIME) / 1_000 + Math.exp(rate / CALM_RATE);
  // A difference of nearly equal numbers may be just below zero.
  const onShard = Math.max(1 - byClients - closed, 0) + Math.max(closed, 0) * untilCalm;
  return MAX_DIRECT_MARKS / (MAX_DIRECT_MARKS + onShard);
}

/** The probability that fewer than so many increments arrive, where `mean` are expected. */
function fewerArrive(increments: number, mean: number): number {
  let term = Math.exp(-mean);
  let sum = 0;
  for (let arrived = 0; arrived < increments; arrived++) {
    sum += term;
    term *= mean / (arrived + 1);
  }
  return sum;
}
