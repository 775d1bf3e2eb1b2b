/** An API quota: each key may make 100 requests a minute, and as many at once after a pause, over all servers. */
import { rateLimiter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

const quota = rateLimiter(db, "requests", { limit: 100, per: 60_000 });

/** Call it before a request is served. What it returns is the beginning of the response. */
export async function admit(apiKey: string): Promise<{ status: 200 | 429; headers: Record<string, string> }> {
  const answer = await quota.take(apiKey);
  if (answer.allowed) return { status: 200, headers: {} };
  return { status: 429, headers: { "Retry-After": `${Math.ceil(answer.retryAfter / 1_000)}` } };
}
