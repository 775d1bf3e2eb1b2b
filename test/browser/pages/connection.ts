/** How a page reaches the emulators, and the parameters in its address. */
import { initializeApp } from "firebase/app";
import {
  connectFirestoreEmulator,
  initializeFirestore,
  persistentLocalCache,
  persistentMultipleTabManager,
  setLogLevel,
} from "firebase/firestore";

/** The query parameters of the page. */
export const parameters = new URL(location.href).searchParams;

/** The id of the counter. */
export const id = parameters.get("id") ?? "";

export const app = initializeApp({
  projectId: parameters.get("project") ?? (process.env.GCLOUD_PROJECT as string),
  apiKey: "any",
});

const tabManager = persistentMultipleTabManager();
const onDisk = () => persistentLocalCache(parameters.has("tabs") ? { tabManager } : {});
export const db = initializeFirestore(app, parameters.has("persistent") ? { localCache: onDisk() } : {});

// `firestore` is another address, such as a proxy's.
const address = parameters.get("firestore") ?? (process.env.FIRESTORE_EMULATOR_HOST as string);
const [host = "", port] = address.split(":");
connectFirestoreEmulator(db, host, Number(port));

// The tests break connections and have writes refused on purpose, so the SDK does not log them.
setLogLevel("silent");
