/**
 * Runs the functions of Google's counter extension as its manifest deploys them: `onWrite` after writes to shards, one instance;
 * `controllerCore` by a schedule, which is six times faster here; `worker` after each write of a worker's document.
 */
const { onWrite, controllerCore, worker } = require("./functions.cjs");
const { getFirestore } = require("firebase-admin/firestore");

const SCHEDULE_MS = 10_000;
const database = getFirestore();

let isRunning = false;
let isDue = false;
async function runOnWrite() {
  isDue = true;
  if (isRunning) return;
  isRunning = true;
  while (isDue) {
    isDue = false;
    await onWrite.run({}, {}).catch(console.error);
  }
  isRunning = false;
}
database.collectionGroup("_counter_shards_").onSnapshot(() => void runOnWrite());

setInterval(() => controllerCore.run({}).catch(console.error), SCHEDULE_MS);

database.collection(`${process.env.INTERNAL_STATE_PATH}/workers`).onSnapshot((workers) => {
  for (const { type, doc } of workers.docChanges()) {
    if (type !== "removed") worker.run({ after: doc }, {}).catch(console.error);
  }
});
