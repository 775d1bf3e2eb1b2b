export { type PrepareOptions, prepareFirestore, type TestFirestore } from "./prepareFirestore.ts";
