/**
 * One old page (`web`) or server (`node`) with a client of Google's counter. It reads commands from stdin and prints
 * answers, a line of JSON each: an increment is answered with its id when the server has acknowledged it, `watch` with each total.
 */
const { createInterface } = require("node:readline");

const projectId = process.env.GCLOUD_PROJECT;

const clients = {
  node() {
    const admin = require("firebase-admin");
    admin.initializeApp({ projectId });
    return { Counter: require("./node.cjs"), db: admin.firestore() };
  },
  web() {
    const firebase = require("firebase/compat/app").default;
    require("firebase/compat/firestore");
    globalThis.document = { cookie: "" };
    firebase.initializeApp({ projectId, apiKey: "any" });
    const db = firebase.firestore();
    const [host, port] = process.env.FIRESTORE_EMULATOR_HOST.split(":");
    // biome-ignore lint/correctness/useHookAtTopLevel: it is no hook of React
    db.useEmulator(host, Number(port));
    return { Counter: require("./web.cjs").Counter, db };
  },
};
const { Counter, db } = clients[process.argv[2]]();

const counters = new Map();
function counterOf({ document, field }) {
  const name = `${document}.${field}`;
  if (!counters.has(name)) counters.set(name, new Counter(db.doc(document), field));
  return counters.get(name);
}
const print = (answer) => console.log(JSON.stringify(answer));

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, increment, watch } = JSON.parse(line);
  if (watch) counterOf(watch).onSnapshot((snapshot) => print({ total: snapshot.data() }));
  if (!increment) return;
  await counterOf(increment).incrementBy(increment.by);
  print({ id });
});
