/**
 * Plans of increments by devices whose clocks may be wrong. bundle.ts gives this module to all that import the real one, and takes the
 * path of the real one from here.
 */
import { planIncrement as planAsIs } from "../../core/src/writePlan.ts";
import { deviceClockError } from "./clock.ts";

export * from "../../core/src/writePlan.ts";

export const planIncrement: typeof planAsIs = (counter, shard, by, now, ...more) =>
  planAsIs(counter, shard, by, now + deviceClockError(), ...more);
