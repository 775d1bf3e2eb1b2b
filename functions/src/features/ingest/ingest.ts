/** Ingest: events by HTTP and Pub/Sub, from pages that are being closed, and from servers. */
import { defineFeature } from "../../shared/feature.ts";
import { ingestPlan } from "./ingestPlan.ts";
import { createHttpIngest, createMessageIngest } from "./receive.ts";

export const ingest = defineFeature({
  ...ingestPlan,
  onRequest: { ingest: createHttpIngest },
  onMessage: {
    ingestmessages(backend) {
      const receive = createMessageIngest(backend);
      return (id, data) => receive({ id, data });
    },
  },
});
