/** What passes between a page and the Firestore emulator: held back, counted. */
import type { Page } from "playwright-core";

const firestore = `http://${process.env.FIRESTORE_EMULATOR_HOST}/**`;

/** Holds whatever a page sends to Firestore from now on. What Firestore sends still arrives. @returns lets it go */
export function holdFirestore(page: Page): Promise<() => void> {
  return hold(page, firestore);
}

/** The same for any addresses. */
export async function hold(page: Page, addresses: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(addresses, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Reads along which targets a page adds and removes. @returns how many watches of a document it has now */
export function countWatches(page: Page): (path: string) => number {
  const targets = new Map<number, string>();
  page.on("request", (request) => {
    if (!request.url().includes("google.firestore.v1.Firestore/Listen/channel")) return;
    // The next stream, as after a sign-in, begins anew.
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

/** Takes Firestore away from a page, but not the server that the page comes from. @returns gives it back */
export async function cutFirestore(page: Page): Promise<() => Promise<void>> {
  await page.route(firestore, (route) => route.abort());
  return () => page.unroute(firestore);
}
