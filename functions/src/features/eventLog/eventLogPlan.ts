/** What the event log needs of a deployment. */
import { NO_COLLECTION } from "../../../../core/src/index.ts";
import type { FeaturePlan } from "../../shared/feature.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** The Pub/Sub topic that gets the records of events; `""` for none. */
    readonly eventLog: { readonly topic: string };
  }
}

export const eventLogPlan = {
  name: "eventLog",
  tableRows: { "[the event log](events.md#the-event-log)": "EVENTS_TOPIC" },
  parameters: {
    EVENTS_TOPIC: {
      default: "",
      label: "Topic of the event log",
      description:
        "The Pub/Sub topic to which a record of each event of ingest, and of each increment with `once` of EVENTS_COLLECTION, is published. " +
        "Create it first. Empty: none is.",
      accepted: "the id of an existing Pub/Sub topic",
    },
    EVENTS_COLLECTION: {
      default: NO_COLLECTION,
      label: "Collection of the event log",
      description:
        "To publish likes and other increments with `once` to EVENTS_TOPIC as well, the value of COLLECTION. " +
        `${NO_COLLECTION} publishes none of them.`,
      accepted: `the value of \`COLLECTION\`: increments with \`once\` are logged, too; \`${NO_COLLECTION}\``,
      pattern: "^[^/]+$",
      invalid: "Enter the id of one collection.",
    },
  },
  settings: (values) => ({ eventLog: { topic: values.text("EVENTS_TOPIC") } }),
  functions: {
    logevents: {
      does: "Publishes the events that ingest has counted, if a topic is set.",
      without: "events of ingest are not published to EVENTS_TOPIC",
      askedForBy: "EVENTS_TOPIC",
      trigger: { on: "created", root: "COLLECTION", path: "{counterId}/tallyOutbox/{id}" },
    },
    logincrements: {
      does: "Publishes increments with `once`, and those that were taken back, if a topic is set.",
      without: "increments with once are not published to EVENTS_TOPIC",
      askedForBy: "EVENTS_COLLECTION",
      trigger: { on: "written", root: "EVENTS_COLLECTION", path: "{counterId}/tallyEntries/{once}" },
    },
  },
  roles: [{ role: "roles/pubsub.publisher", if: "EVENTS_TOPIC", to: "publish the event log" }],
} satisfies FeaturePlan<"eventLog">;
