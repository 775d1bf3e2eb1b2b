/** What the composition of rules is given and returns. */

/** What the policy says. A group of counters is the part of their ids before the first colon. */
export interface Groups {
  /** Every client may increment them: `isOpen`. */
  readonly open: readonly string[];
  /** Count once per signed-in user: `countsOncePerUser`. */
  readonly once: readonly string[];
  /** Never fall below zero: `isBounded`. */
  readonly stock: readonly string[];
  /** Also count their visitors: `countsVisitors`. Without any, the rules of visitors are left out. */
  readonly visitors: readonly string[];
  /** Need a publish of the functions for each total: `needsFunctions`. */
  readonly functions: readonly string[] | "all";
  /** Whether there are functions: `hasFunctions`. */
  readonly hasFunctions: boolean;
}

/** What the app's developer has chosen. */
export interface RulesChoice extends Groups {
  /** Whether the app limits rates: `isWithinLimit`, and the documents that it needs. */
  readonly limits: boolean;
  /** The collection of the counters. */
  readonly collection: string;
}

export type Composed =
  | { readonly text: string; readonly warnings: readonly string[] }
  /** Why the file stays as it is, and what to do. */
  | { readonly refused: string };

/** Ends a composition. The message says why, and what to do. */
export class Refusal extends Error {}

export function composed(compose: (warn: (warning: string) => void) => string): Composed {
  const warnings: string[] = [];
  try {
    return { text: compose((warning) => warnings.push(warning)), warnings };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}
