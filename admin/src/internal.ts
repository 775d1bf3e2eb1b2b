/** What the functions and the CLI use of the server SDK, beyond its public API. */
export { counterDoc } from "./counter.ts";
export { extentOf } from "./delete.ts";
export { type ListedShard, type ShardSum, sumOfListed, sumShards } from "./sum.ts";
