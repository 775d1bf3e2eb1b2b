/** The event log: a record of each event of ingest, and of each increment with `once`, published to a Pub/Sub topic. */
import type { QueryDocumentSnapshot } from "firebase-admin/firestore";
import { defineFeature } from "../../shared/feature.ts";
import { eventLogPlan } from "./eventLogPlan.ts";
import { type Publish, publisher, publishLost, publishOutbox, recordOfEntry } from "./outbox.ts";

declare module "../../counter/backend.ts" {
  interface FeatureConnections {
    readonly eventLog: Publish;
  }
}

export const eventLog = defineFeature({
  ...eventLogPlan,
  connect: (_app, { eventLog: { topic } }) => (topic === "" ? undefined : publisher(topic)),
  onDocument: {
    /** Publishes the events that ingest has counted. */
    logevents: ({ connections: { eventLog: publish } }) => {
      return async ({ after }) => {
        if (after && publish) await publishOutbox(after as QueryDocumentSnapshot, publish);
      };
    },
    logincrements: ({ connections: { eventLog: publish } }) => {
      return async ({ before, after, time }) => {
        if (!publish || (before && after)) return;
        const [entry, kind] = after ? [after, "created" as const] : [before, "deleted" as const];
        await publish([recordOfEntry(entry as QueryDocumentSnapshot, kind, time)]);
      };
    },
  },
  async sweep(backend) {
    const { eventLog: publish } = backend.connections;
    if (publish) await publishLost(backend, publish);
  },
});
