/** What a check finds: what is wrong, why it matters, and the remedy. */
export interface Finding {
  /** Stable, for scripts: `rules-outdated`. */
  readonly id: string;
  /**
   * `error`: something does not count, is not published, is open to writers, or costs without bound.
   * `warning`: it works, but later, dearer or less safely than it could.
   */
  readonly severity: "error" | "warning";
  readonly problem: string;
  readonly remedy: string;
}

export function errorFinding(id: string, problem: string, remedy: string): Finding {
  return { id, severity: "error", problem, remedy };
}

export function warningFinding(id: string, problem: string, remedy: string): Finding {
  return { id, severity: "warning", problem, remedy };
}

/**
 * The remedy of most findings about functions. With the name of a codebase the CLI deploys all its functions. Without one it skips functions
 * that have not changed, and then a queue or a job that was lost stays lost.
 */
export const DEPLOY_FUNCTIONS =
  "run `firebase deploy --only functions:tally` (or the name of your codebase or kit instance)";

/** `a`, `a and b`, `a, b and 3 more` */
export function listed(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most);
  const rest = names.length - shown.length;
  const all = rest > 0 ? [...shown, `${rest} more`] : shown;
  return all.length < 2 ? all.join() : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}
