export { type Beacon, type BeaconOptions, beacon } from "./beacon.ts";
