/** What the bundle exports. */
export { scenarioOf } from "./scenario.ts";
export { simulate } from "./simulate.ts";
