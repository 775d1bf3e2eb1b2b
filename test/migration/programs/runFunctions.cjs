/**
 * Runs the functions of Google's counter as they are deployed: `onWrite` after writes to shards, in one instance; `controllerCore` by a
 * schedule, which is six times faster here; `worker` after each write of a worker's document. The extension's are of the 1st
 * generation, the kit's of the 2nd.
 */
const { onWrite, controllerCore, worker } = require("./functions.cjs");
const { getApps, initializeApp } = require("firebase-admin/app");
const { getFirestore } = require("firebase-admin/firestore");

const SCHEDULE_MS = 10_000;
/**
 * An instance of the 2nd generation handles up to 80 events at a time, one of the 1st a single event. On the emulator, whose
 * transactions lock documents, more than two runs of `onWrite` lock out the writers.
 */
const EVENTS_AT_ONCE = onWrite.__endpoint.platform === "gcfv2" ? 2 : 1;

// The kit initializes the app with its first event.
if (getApps().length === 0) initializeApp();
const database = getFirestore();

let running = 0;
let due = 0;
function runOnWrite(events) {
  due = Math.min(due + events, EVENTS_AT_ONCE);
  for (; due > 0 && running < EVENTS_AT_ONCE; due--) {
    running++;
    const ended = onWrite.run({}, {}).catch(console.error);
    ended.then(() => {
      running--;
      runOnWrite(0);
    });
  }
}
database.collectionGroup("_counter_shards_").onSnapshot((shards) => runOnWrite(shards.docChanges().length));

setInterval(() => controllerCore.run({}).catch(console.error), SCHEDULE_MS);

database.collection(`${process.env.INTERNAL_STATE_PATH}/workers`).onSnapshot((workers) => {
  for (const { type, doc } of workers.docChanges()) {
    const change = { after: doc };
    // The 1st generation gets the change, the 2nd an event that has it.
    if (type !== "removed") worker.run({ ...change, data: change }, {}).catch(console.error);
  }
});
