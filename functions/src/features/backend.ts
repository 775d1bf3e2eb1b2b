/** What features need besides the core's backend. */
import type { Backend } from "../counter/backend.ts";
import type { Config } from "./config.ts";
import type { OtherRegion } from "./regions/connect.ts";

export interface DeployedBackend extends Backend {
  readonly config: Config;
  /** The other regions, by name. */
  readonly otherRegions: ReadonlyMap<string, OtherRegion>;
}
