/** How large shards are on Firestore's Enterprise edition after each write: hour by hour at a steady rate, and in a burst. */
import { fixed, tableOf } from "../markdown.ts";
import type { Scenario } from "./scenarios.ts";
import { withSettings } from "./settings.ts";
import { simulate } from "./simulate.ts";

interface Sizes {
  /** In bytes: the mean of each hour (of a burst: of each minute), and the most. */
  readonly means: readonly number[];
  readonly most: number;
  /** Write units beyond the first, for each increment. */
  readonly moreUnits: number;
}

export interface ShardSizes {
  readonly scenario: string;
  readonly shards: number;
  /** Where no client watches and increments are transactions; and where all do and increments go through the SDK's queue. */
  readonly transactions: Sizes;
  readonly queue: Sizes;
}

export function shardSizes(create: () => Scenario, seed: number): ShardSizes {
  const run = (watching: number) => {
    const { metrics, scenario } = simulate(create(), withSettings(["enterprise=1", `watching=${watching}`]), seed);
    const windows = metrics.windows.filter(({ at, committed }) => at < scenario.lasts && committed > 0);
    const sum = (of: (window: (typeof windows)[0]) => number) => windows.reduce((all, one) => all + of(one), 0);
    const sizes: Sizes = {
      means: windows.map(({ shardBytes, committed }) => Math.round(shardBytes / committed)),
      most: Math.max(...windows.map(({ mostShardBytes }) => mostShardBytes)),
      moreUnits: sum(({ moreUnits }) => moreUnits) / sum(({ committed }) => committed),
    };
    return { sizes, shards: metrics.mostShards, scenario: scenario.name };
  };
  const [transactions, queue] = [run(0), run(1)];
  const { shards, scenario } = transactions;
  return { scenario, shards, transactions: transactions.sizes, queue: queue.sizes };
}

export function shardSizesTable(results: readonly ShardSizes[]): string {
  const bytes = (way: "transactions" | "queue") => (result: ShardSizes) => {
    const { means } = result[way];
    return [...new Set([Math.min(...means), Math.max(...means)])].join("–");
  };
  return tableOf(results, 1, {
    traffic: ({ scenario }) => scenario,
    shards: ({ shards }) => fixed(shards, 0),
    "not watched: mean bytes": bytes("transactions"),
    "… most": ({ transactions }) => fixed(transactions.most, 0),
    "watched: mean bytes": bytes("queue"),
    "watched: most": ({ queue }) => fixed(queue.most, 0),
    "writes above 1 KiB": ({ queue }) => `${fixed(100 * queue.moreUnits, 1)} %`,
  });
}
