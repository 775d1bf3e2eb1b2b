/** Counts through `@react-native-firebase/firestore`, on the substitute that it has for platforms without a native SDK. */
import { initializeApp } from "@react-native-firebase/app";
import { connectFirestoreEmulator, getFirestore } from "@react-native-firebase/firestore";
import { counter, getCounter, getExactTotal, incrementCounter } from "firestore-tally";

async function main(): Promise<void> {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  await initializeApp({
    projectId: process.env.GCLOUD_PROJECT ?? "",
    apiKey: "any",
    appId: "any",
    databaseURL: "https://any",
    messagingSenderId: "any",
    storageBucket: "any",
  });
  const db = getFirestore();
  connectFirestoreEmulator(db, host, Number(port));
  // No colon: the substitute uses REST, and the emulator's REST refuses aggregation queries below an id with one.
  const views = counter(db, "compatibilityReactNative");
  await incrementCounter(views);
  await incrementCounter(views);
  const refused = await incrementCounter(views, 7).catch((error: { code: string }) => error.code);
  console.log(
    JSON.stringify({
      exact: await getExactTotal(views),
      read: typeof (await getCounter(views)).total,
      refused,
    }),
  );
  process.exit();
}

main();
