/** Query Explain through a proxy: the emulator runs a query that is to be explained, and leaves the metrics out of its answer. */
import { status } from "@grpc/grpc-js";
import { type Inspection, Refused } from "./grpcProxy.ts";

/**
 * Adds the metrics in the shape of the reference.
 * https://firebase.google.com/docs/firestore/reference/rpc/google.firestore.v1#google.firestore.v1.ExplainMetrics
 *
 * @param properties  of the index that the plan names
 */
export function explained(properties: string, readOperations: number): Inspection {
  return (method) => {
    if (method !== "RunAggregationQuery") return undefined;
    let isExplained = false;
    return {
      request(message) {
        isExplained = Boolean(message.as<{ explainOptions?: unknown }>().explainOptions);
      },
      response(message) {
        if (!isExplained) return;
        const text = (value: string) => ({ stringValue: value });
        message.rewrite({
          ...message.as<object>(),
          explainMetrics: {
            planSummary: {
              indexesUsed: [{ fields: { query_scope: text("Collection"), properties: text(properties) } }],
            },
            executionStats: { resultsReturned: 1, executionDuration: { nanos: 3_000_000 }, readOperations },
          },
        });
      },
    };
  };
}

/** Refuses sums as Firestore does whose index is not deployed. */
export const withoutIndex: Inspection = (method) =>
  method === "RunAggregationQuery"
    ? {
        request(message) {
          const { structuredAggregationQuery: query } = message.as<{
            structuredAggregationQuery: { aggregations: readonly { sum?: unknown }[] };
          }>();
          if (query.aggregations.some(({ sum }) => sum)) {
            throw new Refused(status.FAILED_PRECONDITION, "The query requires an index.");
          }
        },
      }
    : undefined;
