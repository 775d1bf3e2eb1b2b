/**
 * Loads the project's configuration from Firebase Hosting: that of the real project, or of the emulators.
 *
 * Hosting's `init.json` never names emulators. Its `init.js` does, on request, if they run. The script calls the namespaced
 * SDK, so a stand-in records the calls. One build thus runs anywhere.
 * https://firebase.google.com/docs/hosting/reserved-urls#sdk_auto-configuration
 */
import type { FirebaseOptions } from "firebase/app";

export interface FirebaseSetup {
  readonly options: FirebaseOptions;
  readonly firestore?: { readonly host: string; readonly port: number };
  /** The address of the Auth emulator. */
  readonly auth?: string;
}

declare global {
  interface Window {
    firebase?: unknown;
  }
}

/** @throws Error if the page is not served by Firebase Hosting or its emulator */
export async function loadFirebaseSetup(): Promise<FirebaseSetup> {
  const setup: { -readonly [Key in keyof FirebaseSetup]?: FirebaseSetup[Key] } = {};
  window.firebase = {
    initializeApp(options: FirebaseOptions) {
      setup.options = options;
    },
    firestore: () => ({
      useEmulator(host: string, port: number) {
        setup.firestore = { host, port };
      },
    }),
    auth: () => ({
      useEmulator(url: string) {
        setup.auth = url;
      },
    }),
  };
  const script = document.createElement("script");
  script.src = "/__/firebase/init.js?useEmulator=true";
  await new Promise((resolve) => {
    script.onload = resolve;
    script.onerror = resolve;
    document.head.append(script);
  });
  script.remove();
  if (!setup.options) {
    throw new Error("This page has no Firebase configuration. Run npm start, or deploy the page to Firebase Hosting.");
  }
  return { ...setup, options: setup.options };
}
