/** What ingest needs of a deployment. */
import type { FeaturePlan } from "../../shared/feature.ts";
import { type Values, YES_OR_NO } from "../../shared/parameters.ts";
import { LARGEST_AMOUNT, parseIngestConfig } from "./parseIngestConfig.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** Its parameters. Its function parses them, so that a wrong value stops no other. */
    readonly ingest: Values;
  }
}

/** The topic of a deployment that counts no messages. An extension creates it, because its manifest must name one. */
const NO_TOPIC = "none";

export const ingestPlan = {
  name: "ingest",
  needs: ["visitors", "items", "eventLog"],
  tableRows: {
    "[events by HTTP](events.md)": "INGEST_COUNTERS",
    "[events by Pub/Sub](events.md#by-pubsub)": "INGEST_TOPIC",
  },
  parameters: {
    INGEST_COUNTERS: {
      default: "",
      label: "Counters of ingest",
      description:
        "The counters that the function ingest may count, for anyone on the internet: ids; groups such as views:*, whose " +
        "counters must exist; and expressions such as /views:[a-z0-9-]{1,40}/, separated by commas. Empty: none.",
      accepted: "[what anyone may count](events.md#send-events): ids, groups, expressions, with commas",
    },
    INGEST_ORIGINS: {
      default: "",
      label: "Sites that may use ingest",
      description:
        "The sites whose pages may use ingest: origins such as https://example.com, separated by commas, or * for any.",
      accepted: "origins of your pages, with commas, such as `https://example.com` (no `/` at the end), or `*`",
    },
    INGEST_APP_CHECK: {
      default: "no",
      choices: YES_OR_NO,
      label: "App Check for ingest",
      description: "Whether requests to ingest must have a valid token of App Check.",
      accepted: "`yes`: requests need [App Check](https://firebase.google.com/docs/app-check); `beacon` has none",
    },
    INGEST_MAX_AMOUNT: {
      default: "100",
      range: [1, LARGEST_AMOUNT],
      label: "Largest amount of an event",
      description: "The largest amount of one event that a request to ingest brings.",
      accepted: "the largest `by` of a request's event; a minute's amount at most",
    },
    INGEST_AMOUNT_PER_SECOND: {
      default: "50",
      range: [1, 1_000_000],
      label: "Amount per second and address",
      description: "How much one address may add per second in each instance of ingest, on average over ten seconds.",
      accepted: "to 1,000,000: [for one address](events.md#what-a-request-gets), which an office shares",
    },
    INGEST_TOPIC: {
      default: NO_TOPIC,
      label: "Topic of ingest",
      description: `The Pub/Sub topic whose messages are counted, such as tally-events. ${NO_TOPIC} counts none.`,
      accepted: `the id of a Pub/Sub topic, which a deployment creates; \`${NO_TOPIC}\``,
      pattern: "^[A-Za-z][A-Za-z0-9._~+%-]{2,254}$",
      invalid: "Enter the id of a topic, such as tally-events.",
    },
  },
  settings: (values) => ({ ingest: values }),
  check: parseIngestConfig,
  functions: {
    ingest: {
      does: "Counts events that pages and servers send by HTTP.",
      without: "events that pages and servers send are not counted",
      askedForBy: "INGEST_COUNTERS",
      trigger: { on: "request" },
    },
    ingestmessages: {
      does: "Counts events that servers publish to a Pub/Sub topic.",
      without: "events that are published to INGEST_TOPIC are not counted",
      askedForBy: "INGEST_TOPIC",
      trigger: { on: "message", topic: "INGEST_TOPIC" },
    },
  },
} satisfies FeaturePlan<"ingest">;
