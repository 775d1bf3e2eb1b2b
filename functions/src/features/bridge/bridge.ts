/** The bridge: moves what old apps still write for Google's counter into counters. */
import type { DocumentReference } from "firebase-admin/firestore";
import { toMillis } from "../../counter/time.ts";
import { defineFeature } from "../../shared/feature.ts";
import { bridgePlan } from "./bridgePlan.ts";
import { createBridgeHandler, moveLost } from "./moveIncrements.ts";

export const bridge = defineFeature({
  ...bridgePlan,
  onDocument: {
    legacyshardwritten(backend) {
      const handle = createBridgeHandler(backend);
      return async ({ after }) => {
        // The write before a deletion has triggered the move.
        if (!after?.updateTime) return;
        const document = after.ref.parent.parent as DocumentReference;
        await handle({ document: document.path, committedAt: toMillis(after.updateTime) });
      };
    },
  },
  sweep: moveLost,
});
