const { initializeApp } = require("firebase-admin/app");
const { getFirestore } = require("firebase-admin/firestore");
const web = require("firestore-tally");
const admin = require("firestore-tally/admin");
const react = require("firestore-tally/react");
const { prepareFirestore } = require("firestore-tally/testing");

test("every entry is imported", () => {
  expect([web.incrementCounter, react.useCounter].map((one) => typeof one)).toEqual(["function", "function"]);
});

test("an increment is in the total", async () => {
  const firestore = await prepareFirestore({ rules: process.env.RULES });
  const views = admin.counter(getFirestore(initializeApp({ projectId: process.env.GCLOUD_PROJECT })), "jest:views");
  await admin.incrementCounter(views);
  expect(await firestore.settled(views, 30_000)).toBe(1);
}, 60_000);
