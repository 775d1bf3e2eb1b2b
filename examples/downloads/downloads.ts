/** Downloads: counted by the server that serves the file. */
import { counter, incrementCounter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** Every call counts. */
export async function countDownload(file: string) {
  await incrementCounter(counter(db, `downloads:${file}`));
}

/** Counts once per request, however often the request comes. */
export async function countDownloadOnce(file: string, requestId: string) {
  const downloads = counter(db, `downloads:${file}`);
  await incrementCounter(downloads, 1, { once: requestId });
}
