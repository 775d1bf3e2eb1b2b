/** An app of the web SDK: increments, reads and watches a counter. */
import { deleteApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import {
  type CounterError,
  type CounterSnapshot,
  counter,
  getCounter,
  getExactTotal,
  incrementCounter,
  onCounter,
} from "firestore-tally";

async function main(): Promise<void> {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const app = initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "", apiKey: "any" });
  const db = getFirestore(app);
  connectFirestoreEmulator(db, host, Number(port));
  const views = counter(db, process.argv[2] ?? "");
  await incrementCounter(views);
  await incrementCounter(views);
  const published = await new Promise<number>((resolve, reject) => {
    const next = ({ total }: CounterSnapshot) => total === 2 && resolve(total);
    onCounter(views, { next, error: reject }, { optimistic: false });
  });
  const code = await incrementCounter(views, Number.NaN).catch((error: CounterError) => error.code);
  console.log(
    JSON.stringify({ exact: await getExactTotal(views), published, read: (await getCounter(views)).total, code }),
  );
  await deleteApp(app);
  process.exit();
}

main();
