"use client";
import { initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import { counter } from "firestore-tally";
import { useCounter } from "firestore-tally/react";

const db = getFirestore(initializeApp({ projectId: process.env.NEXT_PUBLIC_PROJECT, apiKey: "any" }));
connectFirestoreEmulator(db, "127.0.0.1", Number(process.env.NEXT_PUBLIC_EMULATOR_PORT));
const views = counter(db, "compatibility:next");

export function Views({ initialTotal }) {
  const { total, increment } = useCounter(views, { initialTotal });
  return (
    <button type="button" id="views" onClick={() => increment()}>
      {total}
    </button>
  );
}
