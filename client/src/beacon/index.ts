export type { CounterObserver } from "../../../core/src/observer.ts";
export { type Beacon, type BeaconOptions, beacon } from "./beacon.ts";
export { type BeaconTotal, type BeaconTotalError, type BeaconTotalOptions, onTotal } from "./total.ts";
