/** A certificate for the hosts that the CLI calls, for one rehearsal. Only processes that are told to trust it do. */
import { generate } from "selfsigned";

const HOSTS = [
  ...["*.googleapis.com", "*.google.com", "*.google-analytics.com", "*.firebaseio.com", "*.firebaseapp.com"],
  ...["auth.firebase.tools", "firebase.tools"],
];

/** @returns key and certificate as PEM */
export async function createCertificate(): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: "commonName", value: "A rehearsal of Google's APIs" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: HOSTS.map((value) => ({ type: 2, value })) },
    ],
  });
  return { key, cert };
}
