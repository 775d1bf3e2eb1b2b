/** Takes a web client offline as a browser does. `disableNetwork` alone does not stop transactions. */
import { disableNetwork, enableNetwork, type Firestore } from "firebase/firestore";
import { vi } from "vitest";

export async function goOffline(db: Firestore): Promise<void> {
  vi.stubGlobal("navigator", { onLine: false });
  await disableNetwork(db);
}

export async function goOnline(db: Firestore): Promise<void> {
  vi.unstubAllGlobals();
  await enableNetwork(db);
}
