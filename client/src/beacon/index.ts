export { type Beacon, type BeaconOptions, beacon } from "./beacon.ts";
export { onTotal, type Total, type TotalOptions } from "./total.ts";
