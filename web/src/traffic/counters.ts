/** The counters of the demo's traffic. */

/** What everybody who has the page open adds to. */
export const TRAFFIC = "demo:traffic";

/**
 * How a page asks `npm start` for traffic that one browser cannot send: each increment of this counter is for so many of
 * `TRAFFIC`. The page cannot reach that process in any other way, and needs none.
 */
export const HELP = { counter: "demo:help", each: 20 };
