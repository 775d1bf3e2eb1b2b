/** The counters of the demo's traffic. */

/** The counter that every open page adds to. */
export const TRAFFIC = "demo:traffic";

/**
 * The counter through which a page asks `npm start` to send what one browser cannot: each increment there asks for
 * `incrementsPerRequest` increments of `TRAFFIC`. The page has no other connection to that process.
 */
export const HELP_REQUESTS = { counter: "demo:help", incrementsPerRequest: 20 };

/** The bounded counter of the page's tickets, which `npm start` creates. */
export const TICKETS = "tickets:last";
