/**
 * 200,000 events under fire: half in requests, half in messages.
 *
 *     npm run faults:ingest
 */
import { fireAtMessages, fireAtRequests, type IngestResult } from "./ingest.ts";

const EVENTS = 100_000;

function print(what: string, { acknowledged, counted, kills, cuts, requests, seconds }: IngestResult): void {
  console.log(
    `${what}: ${acknowledged} events acknowledged, ${counted} counted; ${requests} sent, ${kills} kills, ` +
      `${cuts} connections cut, ${seconds.toFixed(0)} s`,
  );
}

const requests = await fireAtRequests(EVENTS, true);
print("requests with ids", requests);
const messages = await fireAtMessages(EVENTS);
print("messages", messages);
const anonymous = await fireAtRequests(EVENTS / 5, false);
print("requests without ids", anonymous);
const isExact = [requests, messages].every(({ acknowledged, counted }) => acknowledged === counted);
process.exit(isExact && anonymous.counted >= anonymous.acknowledged ? 0 : 1);
