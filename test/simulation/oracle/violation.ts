/** An invariant that does not hold. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/** Reports a violation. The first one of a run counts. */
export type Fail = (invariant: string, message: string) => void;
