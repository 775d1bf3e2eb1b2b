/** Visitors of several pages, or days, together: on a server, which may read sketches. */
import { counter, countVisitor, getUniques } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** For visitors without an account: any text that is the same for the same visitor. */
export async function countSession(page: string, sessionId: string) {
  await countVisitor(counter(db, `views:${page}`), sessionId);
}

/** How many different people have seen any of the pages. */
export async function readersOf(pages: readonly string[]) {
  return await getUniques(pages.map((page) => counter(db, `views:${page}`)));
}
