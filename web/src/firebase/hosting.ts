/**
 * Which project the page belongs to, as Firebase Hosting tells it: the real one, or the emulators.
 *
 * Hosting serves `init.json`, which never names emulators, and `init.js`, which does when it is asked to and they run. The
 * script wants the namespaced SDK, so we stand in for it and write down what it is told. The same build thus runs anywhere.
 * https://firebase.google.com/docs/hosting/reserved-urls#sdk_auto-configuration
 */
import type { FirebaseOptions } from "firebase/app";

export interface Setup {
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
export async function askHosting(): Promise<Setup> {
  const told: { -readonly [Key in keyof Setup]?: Setup[Key] } = {};
  window.firebase = {
    initializeApp(options: FirebaseOptions) {
      told.options = options;
    },
    firestore: () => ({
      useEmulator(host: string, port: number) {
        told.firestore = { host, port };
      },
    }),
    auth: () => ({
      useEmulator(url: string) {
        told.auth = url;
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
  if (!told.options) {
    throw new Error(
      "Firebase Hosting did not say which project this is. Run npm start, or deploy the page to Firebase Hosting.",
    );
  }
  return { ...told, options: told.options };
}
