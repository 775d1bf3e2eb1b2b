/** An invariant does not hold. */
export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/** Reports one. The first counts. */
export type Fail = (invariant: string, message: string) => void;
