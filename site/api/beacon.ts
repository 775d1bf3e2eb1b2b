/**
 * For pages without the Firebase SDK: increments sent to the function `ingest`.
 *
 * @module firestore-tally/beacon
 */
export * from "firestore-tally/beacon";
