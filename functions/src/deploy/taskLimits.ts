/** Limits of tasks and of the sweep, in every packaging. */

/** Retries for about a day, like those of an event. Few tasks need one: those that fail schedule their next attempt themselves. */
export const RETRY_CONFIG = { maxAttempts: 100, minBackoffSeconds: 1, maxBackoffSeconds: 900 };

/** Cloud Tasks allows 500 dispatches a second per queue. Ten instances, as many as there are by default, run 200 tasks at a time. */
export const RATE_LIMITS = { maxConcurrentDispatches: 200, maxDispatchesPerSecond: 500 };

export const SWEEP_TIMEOUT_SECONDS = 540;
