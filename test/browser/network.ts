/** The traffic between a page and the Firestore emulator: delayed, cut, or counted. */
import type { Page, Request } from "playwright-core";

const firestore = `http://${process.env.FIRESTORE_EMULATOR_HOST}/**`;

/** Delays all requests of a page to Firestore from now on; responses still arrive. @returns sends the requests */
export function holdFirestore(page: Page): Promise<() => void> {
  return hold(page, firestore);
}

/** Delays all requests of a page to the addresses from now on. @returns sends the requests */
export function hold(page: Page, addresses: string): Promise<() => void> {
  return holdIf(page, addresses, () => true);
}

/** Delays the watches that a page adds from now on of documents whose path has this part. @returns a function that lets them through */
export function holdWatches(page: Page, part: string): Promise<() => void> {
  const addsWatch = (request: Request) => decodeURIComponent(request.postData() ?? "").includes(part);
  return holdIf(page, "**/google.firestore.v1.Firestore/Listen/channel**", addsWatch);
}

async function holdIf(page: Page, addresses: string, isHeld: (request: Request) => boolean): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(addresses, async (route) => {
    if (isHeld(route.request())) await released;
    await route.continue();
  });
  return release;
}

/** Follows the watches that a page adds and removes. @returns the current number of watches of a document */
export function countWatches(page: Page): (path: string) => number {
  const targets = new Map<number, string>();
  page.on("request", (request) => {
    if (!request.url().includes("google.firestore.v1.Firestore/Listen/channel")) return;
    // The next stream, for example after a sign-in, starts without watches.
    if (request.url().includes("TYPE=terminate")) targets.clear();
    for (const [name, value] of new URLSearchParams(request.postData() ?? "")) {
      if (!/^req\d+___data__$/.test(name)) continue;
      const { addTarget, removeTarget } = JSON.parse(value);
      if (addTarget) targets.set(addTarget.targetId, `${addTarget.documents?.documents}`);
      if (removeTarget) targets.delete(removeTarget);
    }
  });
  return (path) => [...targets.values()].filter((document) => document.endsWith(`/documents/${path}`)).length;
}

/** Cuts a page off from Firestore, but not from its own web server. @returns ends the cut */
export async function cutFirestore(page: Page): Promise<() => Promise<void>> {
  await page.route(firestore, (route) => route.abort());
  return () => page.unroute(firestore);
}
