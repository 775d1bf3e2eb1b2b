/** Connections to the databases of the other regions. */
import { type App, getApps, initializeApp } from "firebase-admin/app";
import { type CollectionReference, getFirestore } from "firebase-admin/firestore";
import type { Millis } from "../../counter/time.ts";
import type { Regions } from "./parseRegions.ts";

declare module "../../counter/backend.ts" {
  interface FeatureConnections {
    /** By name. */
    readonly regions: OtherRegions;
  }
}

export type OtherRegions = ReadonlyMap<string, OtherRegion>;

/** A region, and its circuit breaker: open until `pausedUntil`, then half-open, while `trial` is the one call that tests it. */
export interface OtherRegion {
  readonly counters: CollectionReference;
  /** Whether this instance could not reach it the last time. */
  isFailing: boolean;
  /** Until when this instance does not try it, if it is failing. */
  pausedUntil: Millis;
  /** The call of this instance that finds out whether it can be reached again. */
  trial: Promise<void> | undefined;
}

/**
 * No I/O. A database of another project must admit the account of `app`.
 *
 * @param collection  of the counters, the same in each region
 * @returns the other regions, by name
 */
export function connectOtherRegions(app: App, { others }: Regions, collection: string): OtherRegions {
  return new Map(
    others.map(({ name, project, database }) => {
      const known = getApps().find((one) => one.name === project);
      const projectApp = project ? (known ?? initializeApp({ ...app.options, projectId: project }, project)) : app;
      return [
        name,
        {
          counters: getFirestore(projectApp, database).collection(collection),
          isFailing: false,
          pausedUntil: 0,
          trial: undefined,
        },
      ];
    }),
  );
}
