/** What the nearest `firebase.json` says about emulators and databases. */
import { projectFolders } from "./projectFolders.ts";
import { readJson } from "./setup/json.ts";

/** Returns the text of a file. Throws if there is none. */
export type ReadFile = (path: string) => string;

interface Address {
  readonly host?: string;
  readonly port?: number;
}

/** The fields that are read: https://firebase.google.com/docs/cli#the_firebasejson_file */
export interface FirebaseJson {
  readonly emulators?: Readonly<Record<string, Address | undefined>>;
  readonly firestore?: unknown;
}

/** @throws CommandError if it is no JSON */
export function nearestFirebaseJson(readFile: ReadFile): FirebaseJson | undefined {
  const { path, text } = nearestText(readFile, "firebase.json") ?? {};
  return path === undefined || text === undefined ? undefined : readJson(path, text);
}

/** The text of a file in the working folder, or else in the nearest folder of the project above that has it. */
export function nearestText(
  readFile: ReadFile,
  name: string,
): { readonly path: string; readonly text: string } | undefined {
  for (const up of projectFolders(process.cwd()).keys()) {
    const path = `${"../".repeat(up)}${name}`;
    try {
      return { path, text: readFile(path) };
    } catch {
      // It is not in this folder.
    }
  }
  return undefined;
}

/** Addresses on which an emulator listens to every network, and the one to connect to instead. */
const ANY_NETWORK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** `host:port` of an emulator. @param defaultPort  without one in the file */
export function emulatorAddress(json: FirebaseJson | undefined, name: string, defaultPort: number): string {
  const { host = "127.0.0.1", port = defaultPort } = json?.emulators?.[name] ?? {};
  const reachable = ANY_NETWORK[host] ?? host;
  return `${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
