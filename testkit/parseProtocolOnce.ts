/**
 * Has Firestore's protocol parsed once in a process with many clients. In Node the web SDK parses it anew for each
 * instance, which takes 19 ms of processor time; a browser or a phone has one instance. Import this before the SDK.
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
