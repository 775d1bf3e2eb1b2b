/** The web app's Firestore with a cache that survives a reload. */
import { initializeApp } from "firebase/app";
import { initializeFirestore, persistentLocalCache, persistentMultipleTabManager } from "firebase/firestore";
import { firebaseConfig } from "../setup/firebaseConfig.ts";

const tabManager = persistentMultipleTabManager();
export const db = initializeFirestore(initializeApp(firebaseConfig), {
  localCache: persistentLocalCache({ tabManager }),
});
