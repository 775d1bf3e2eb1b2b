/** What apps import, and the folder of each: `firestore-tally` is `index`, the others are below it. */
export const ENTRIES = {
  index: "client/src/web",
  admin: "admin/src",
  beacon: "client/src/beacon",
  react: "client/src/react",
  testing: "client/src/testing",
};
