/**
 * For web apps: counters, likes and stock of Firestore's web SDK. The same calls work in Node.js with that SDK.
 *
 * @module firestore-tally
 */
export * from "firestore-tally";
