/** A view counter and a like, on a server. This file is yours to change. */
import { getApps, initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";
import { counter, getCounter, incrementCounter, undoIncrement } from "firestore-tally/admin";

function counterOf(id: string) {
  if (getApps().length === 0) initializeApp();
  return counter(getFirestore(), id);
}

export async function countView(page: string) {
  await incrementCounter(counterOf(`views:${page}`));
}

export async function viewsOf(page: string) {
  return (await getCounter(counterOf(`views:${page}`))).total;
}

/** Counts each user once. */
export async function like(post: string, user: string) {
  await incrementCounter(counterOf(`likes:${post}`), 1, { once: user });
}

export async function unlike(post: string, user: string) {
  await undoIncrement(counterOf(`likes:${post}`), user);
}
