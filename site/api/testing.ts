/**
 * For tests of your app on the Firestore emulator.
 *
 * @module firestore-tally/testing
 */
export * from "firestore-tally/testing";
