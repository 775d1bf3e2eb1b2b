/** A server: increments, reads and watches a counter, and waits for its total as a test does. */
import { initializeApp } from "firebase-admin/app";
import { getFirestore } from "firebase-admin/firestore";
import { counter, getCounter, getExactTotal, incrementCounter, onCounter } from "firestore-tally/admin";
import { prepareFirestore } from "firestore-tally/testing";

async function main(): Promise<void> {
  const firestore = await prepareFirestore({ rules: process.env.RULES });
  const views = counter(
    getFirestore(initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "" })),
    process.argv[2] ?? "",
  );
  await Promise.all([incrementCounter(views, 5), incrementCounter(views, -3)]);
  const settled = await firestore.settled(views, 30_000);
  const watched = await new Promise<number>((resolve, reject) => {
    const stop = onCounter(views, {
      next({ total }) {
        stop();
        resolve(total);
      },
      error: reject,
    });
  });
  const code = await incrementCounter(views, Number.NaN).catch((error: { code: string }) => error.code);
  console.log(
    JSON.stringify({
      exact: await getExactTotal(views),
      settled,
      watched,
      read: (await getCounter(views)).total,
      code,
    }),
  );
  process.exit();
}

main();
