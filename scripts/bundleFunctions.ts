/** Bundles the functions, with core, as they are deployed. */
import { build } from "esbuild";

/** What all bundles have in common. */
export const BUNDLE = { bundle: true, format: "esm", sourcemap: true, logLevel: "warning" } as const;

/** @param root  the folder of the project */
export async function bundleFunctions(root: string): Promise<void> {
  await build({
    ...BUNDLE,
    absWorkingDir: root,
    entryPoints: ["functions/src/index.ts"],
    outfile: "functions/lib/index.js",
    // What functions/package.json depends on.
    external: ["@google-cloud/*", "firebase-admin/*", "firebase-functions", "firebase-functions/*"],
    platform: "node",
    target: "node22",
  });
}
