/** The event log: a record of each event of ingest, and of each increment with `once`, published to a Pub/Sub topic. */
import type { QueryDocumentSnapshot } from "firebase-admin/firestore";
import { defineFeature } from "../../shared/feature.ts";
import { eventLogPlan } from "./eventLogPlan.ts";
import { publishLost, publishOutbox, recordOfEntry, type SendRecords, sender } from "./outbox.ts";

declare module "../../counter/backend.ts" {
  interface FeatureConnections {
    readonly eventLog: SendRecords;
  }
}

export const eventLog = defineFeature({
  ...eventLogPlan,
  connect: (_app, { eventLog: { topic } }) => (topic === "" ? undefined : sender(topic)),
  onDocument: {
    /** Publishes the events that ingest has counted. */
    logevents: ({ connections: { eventLog: send } }) => {
      return async ({ after }) => {
        if (after && send) await publishOutbox(after as QueryDocumentSnapshot, send);
      };
    },
    logincrements: ({ connections: { eventLog: send } }) => {
      return async ({ before, after, time }) => {
        if (!send || !before === !after) return;
        const [entry, kind] = after ? [after, "created" as const] : [before, "deleted" as const];
        await send([recordOfEntry(entry as QueryDocumentSnapshot, kind, time)]);
      };
    },
  },
  async sweep(backend) {
    const { eventLog: send } = backend.connections;
    if (send) await publishLost(backend, send);
  },
});
