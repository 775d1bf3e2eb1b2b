/**
 * For servers: the same calls with Firestore's server SDK, and those that only a server may make.
 *
 * @module firestore-tally/admin
 */
export * from "firestore-tally/admin";
