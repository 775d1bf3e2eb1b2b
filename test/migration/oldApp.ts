/** What a page of an old app (pages/oldClient.ts) does for a test. */

/** An increment with Google's client. */
export interface OldIncrement {
  readonly document: string;
  readonly field: string;
  readonly by: number;
}

export interface OldApp {
  /** Makes increments one after the other, `every` milliseconds apart. Resolves when all were acknowledged. */
  increment(increments: readonly OldIncrement[], every: number): Promise<void>;
  /** Watches a field through the old client while incrementing it. @returns each value that the page was shown */
  watchAndIncrement(document: string, field: string, times: number, every: number): Promise<number[]>;
}
