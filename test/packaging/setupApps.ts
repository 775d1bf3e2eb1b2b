/** Apps as people have them before they add Tally: each with rules, indexes and functions of its own. Path → content. */

type Files = Readonly<Record<string, string>>;

/** Ports of its emulators. */
export type Ports = Readonly<
  Record<"auth" | "firestore" | "functions" | "tasks" | "hub" | "logging" | "eventarc", number>
>;

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** A function of the app's own, beside Tally's: the id of each post, in capitals. */
const FUNCTIONS: Files = {
  "functions/package.json": json({ name: "functions", private: true, main: "index.js" }),
  "functions/index.js": `const { onDocumentCreated } = require("firebase-functions/v2/firestore");
exports.shout = onDocumentCreated("posts/{post}", ({ data }) => data.ref.update({ title: data.id.toUpperCase() }));
`,
};

const RULES = `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    // Signed-in users write posts.
    match /posts/{post} {
      allow read: if true;
      allow create: if isOwn();
      function isOwn() { return request.auth != null; }
    }
  }
}
`;

function projectFiles(ports: Ports): Files {
  const emulators = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, { port }]));
  return {
    ...FUNCTIONS,
    "firestore.rules": RULES,
    "firestore.indexes.json": json({
      indexes: [
        {
          collectionGroup: "posts",
          queryScope: "COLLECTION",
          fields: [
            { fieldPath: "author", order: "ASCENDING" },
            { fieldPath: "at", order: "DESCENDING" },
          ],
        },
      ],
      fieldOverrides: [],
    }),
    "firebase.json": json({
      firestore: { rules: "firestore.rules", indexes: "firestore.indexes.json" },
      functions: { source: "functions", runtime: "nodejs24" },
      emulators: { ...emulators, ui: { enabled: false }, singleProjectMode: false },
    }),
    ".gitignore": "node_modules\n.env\n",
  };
}

const firebaseModule = ({ auth, firestore }: Ports) => `import { initializeApp } from "firebase/app";
import { connectAuthEmulator, getAuth } from "firebase/auth";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";

const app = initializeApp({ projectId: "demo-tally", apiKey: "any" });
connectFirestoreEmulator(getFirestore(app), "127.0.0.1", ${firestore});
connectAuthEmulator(getAuth(app), "http://127.0.0.1:${auth}", { disableWarnings: true });
`;

export const viteApp = (ports: Ports): Files => ({
  ...projectFiles(ports),
  "package.json": json({
    name: "vite-app",
    private: true,
    type: "module",
    scripts: { build: "vite build", preview: "vite preview" },
    dependencies: { firebase: "^12.0.0", react: "^19.0.0", "react-dom": "^19.0.0" },
    devDependencies: { vite: "^8.0.0" },
  }),
  "index.html": `<!doctype html><title>App</title><div id="root"></div><script type="module" src="/src/main.jsx"></script>\n`,
  "src/firebase.js": firebaseModule(ports),
  "src/main.jsx": `import "./firebase.js";
import { getAuth, signOut } from "firebase/auth";
import { createRoot } from "react-dom/client";
import { LikeButton, Views } from "./counters.jsx";

createRoot(document.getElementById("root")).render(<>
  <Views page="home" /><LikeButton post="42" />
  <button onClick={() => signOut(getAuth())}>Sign out</button>
</>);
`,
});

export const serverApp = (ports: Ports): Files => ({
  ...projectFiles(ports),
  "package.json": json({
    name: "server-app",
    private: true,
    type: "module",
    dependencies: { "firebase-admin": "^14.0.0" },
  }),
  "main.js": `import { countView, like, viewsOf } from "./counters.js";

await countView("home");
await like("42", "alice");
await like("42", "alice");
while ((await viewsOf("home")) < 1) await new Promise((resolve) => setTimeout(resolve, 100));
`,
});
