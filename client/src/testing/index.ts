export { type PrepareFirestoreOptions, prepareFirestore, type TestFirestore } from "./prepareFirestore.ts";
