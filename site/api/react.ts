/**
 * Hooks for React.
 *
 * @module firestore-tally/react
 */
export * from "firestore-tally/react";
