/**
 * Makes the web SDK parse Firestore's protocol once per process. In Node it parses it for each client, which takes 19 ms of CPU
 * time; a browser or a phone has one client. To be imported before the SDK.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
// The SDK's own copy, wherever it is installed.
const loader = createRequire(require.resolve("@firebase/firestore"))("@grpc/proto-loader");

const parse = loader.fromJSON;
const parsed = new Map<unknown, unknown>();
loader.fromJSON = (json: unknown, options: unknown) => {
  if (!parsed.has(json)) parsed.set(json, parse(json, options));
  return parsed.get(json);
};
