/** Makes the increments that are listed on stdin with the Node client of Google's counter extension, ten at a time. */
const { readFileSync } = require("node:fs");
const admin = require("firebase-admin");
const Counter = require("./client.js");

admin.initializeApp({ projectId: process.env.GCLOUD_PROJECT });

async function main() {
  const increments = JSON.parse(readFileSync(0, "utf8"));
  const counters = new Map();
  const makeSome = async () => {
    for (let next = increments.shift(); next; next = increments.shift()) {
      const { document, field, by } = next;
      const name = `${document}.${field}`;
      if (!counters.has(name)) counters.set(name, new Counter(admin.firestore().doc(document), field));
      await counters.get(name).incrementBy(by);
    }
  };
  await Promise.all(Array.from({ length: 10 }, makeSome));
  process.exit(0);
}
main();
