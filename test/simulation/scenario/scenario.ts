/** What a scenario consists of: a configuration, the actions of callers, and the faults. Plain data, so it can be minimized. */
import type { Settings } from "../../../functions/src/shared/feature.ts";
import type { FailingStep } from "../failingSteps.ts";
import type { Fault } from "../faults.ts";
import type { Micros } from "../model/values.ts";

/** An action, `at` microseconds into the run. Clients, servers and instances are numbered. */
export type Action = { readonly at: number } & (
  | { readonly does: "increment"; readonly client: number; readonly counter: string; readonly by: number }
  | { readonly does: "like" | "unlike"; readonly client: number; readonly counter: string; readonly once: string }
  | { readonly does: "visit"; readonly client: number; readonly visitor: string; readonly by: number | undefined }
  | { readonly does: "visitServer"; readonly server: number; readonly visitor: string }
  | { readonly does: "resetVisitors" }
  | { readonly does: "search"; readonly events: readonly string[]; readonly diesAfter: Micros | undefined }
  | { readonly does: "resetItems" }
  | { readonly does: "closeClient"; readonly client: number }
  | { readonly does: "add"; readonly server: number; readonly counter: string; readonly by: number }
  | { readonly does: "addOnce" | "undoOnce"; readonly server: number; readonly counter: string; readonly once: string }
  | { readonly does: "killServer"; readonly server: number }
  | { readonly does: "bareWrite"; readonly counter: string; readonly shard: string; readonly by: number }
  | { readonly does: "reset"; readonly counter: string; readonly to: number }
  | { readonly does: "ensure"; readonly counter: string; readonly initial: number }
  | { readonly does: "prewarm"; readonly counter: string; readonly shards: number }
  | { readonly does: "deleteCounter" | "clear"; readonly counter: string }
  | { readonly does: "order" | "cancel"; readonly server: number; readonly order: string }
  | { readonly does: "drift"; readonly by: number }
  | { readonly does: "strayIncrement" }
  | { readonly does: "reconcile" | "reconcileBySchedule" }
  | { readonly does: "post" | "unpost"; readonly post: string }
  | { readonly does: "page" | "unpage"; readonly page: string }
  | { readonly does: "makeByHand"; readonly numShards: number; readonly count: number }
  | { readonly does: "oldUpdate"; readonly shard: string }
  | { readonly does: "adopt" | "endAdoption" }
  | { readonly does: "oldIncrement"; readonly client: number; readonly by: number }
  | { readonly does: "oldField"; readonly total: number }
  | { readonly does: "oldWipe" | "oldFold" | "oldAggregate" | "oldPartial" | "import" | "giveBack" }
  | { readonly does: "openSale"; readonly units: number; readonly shards: number }
  | { readonly does: "take"; readonly client: number; readonly once: string; readonly units: number }
  | { readonly does: "undoTake"; readonly client: number; readonly once: string }
  | { readonly does: "restock"; readonly server: number; readonly units: number }
  | { readonly does: "takeServer"; readonly server: number; readonly once: string | undefined; readonly units: number }
  | { readonly does: "sweep" }
  | { readonly does: "kill"; readonly instance: number; readonly seconds: number }
  | { readonly does: "freeze"; readonly instance: number; readonly seconds: number }
);

export interface Scenario {
  readonly seed: number;
  readonly config: Settings;
  readonly faults: readonly Fault[];
  /** The share of calls, events and tasks that get a fault. */
  readonly faultRate: number;
  /**
   * How far snapshots may lag behind earlier commits: 0 in production, more in the emulator
   * (`functions/src/deploy/createBackend.ts`).
   */
  readonly snapshotLag: Micros;
  /** How long most calls take each way. */
  readonly latency: Micros;
  /** Instances of the functions that run at the same time. */
  readonly instances: number;
  /** Whether the composite indexes were deployed. */
  readonly index: "ready" | "missing";
  /** The step that fails as long as there is traffic, if any. */
  readonly failing?: FailingStep;
  readonly actions: readonly Action[];
}

export const MS = 1_000;
export const SECOND = 1_000 * MS;

/** The counted collection, and the counter that counts it. */
export const POSTS = "posts";
/** Pages that may mirror a counter. */
export const PAGES = ["pages/a", "pages/home"];
export const PLAIN = ["views:a", "b"];
export const LIKES = "likes:c";
export const VOTES = "votes:d";
/** A counter of documents, each of which is created and deleted in one commit with its increment. */
export const ORDERS = { counter: "orders:e", collection: "orders" };
/** The counter whose visitors are counted. */
export const VISITED = "views:a";
/** The counter whose items are counted. */
export const SEARCHED = "searches:h";
/** The bounded counter. */
export const STOCK = "tickets:g";
/** A counter that was made by hand, before the functions were there. */
export const HAND_MADE = "views:k";
/** A field that Google's counter counts, and the counter that takes it over. */
export const BRIDGED = { counter: "visits:f", document: "walls/f", field: "visits" };

/** Time zones, and how many minutes their clocks are ahead of UTC, all year. A day of the last one ends during most runs. */
export const OFFSETS: Readonly<Record<string, number>> = { UTC: 0, "Asia/Kolkata": 330, "-00:05": -5 };
