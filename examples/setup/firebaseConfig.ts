/** The object that the Firebase console shows for your web app. This one is for the emulators. */
export const firebaseConfig = { projectId: "demo-tally", apiKey: "any" };
