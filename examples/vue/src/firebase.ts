/** The Firebase project of this app. Replace the values by your own; with VITE_EMULATOR_PORT it uses the emulator. */
import { initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";

const { VITE_PROJECT = "demo-app", VITE_API_KEY = "any", VITE_EMULATOR_PORT } = import.meta.env;

export const db = getFirestore(initializeApp({ projectId: VITE_PROJECT, apiKey: VITE_API_KEY }));
if (VITE_EMULATOR_PORT) connectFirestoreEmulator(db, "127.0.0.1", Number(VITE_EMULATOR_PORT));
