/** A server's Firestore. Credentials and project come from the environment. */
import { initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";

initializeApp();
export const db = getFirestore();
