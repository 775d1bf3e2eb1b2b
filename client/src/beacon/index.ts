export { type Beacon, type BeaconOptions, beacon } from "./beacon.ts";
export { type BeaconTotal, type BeaconTotalOptions, onTotal } from "./total.ts";
