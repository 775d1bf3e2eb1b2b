/** Bundles the simulation with the code under test: the real sources, with the SDKs, the clock and random numbers replaced. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** @returns the path of the bundle, whose exports are those of bundleEntry.ts */
export async function bundle(outfile: string): Promise<string> {
  await build({
    entryPoints: [here("bundleEntry.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    logLevel: "warning",
    alias: {
      "firebase-admin/firestore": here("model/adminSdk.ts"),
      "firebase/firestore": here("model/webSdk.ts"),
      "firebase-admin/app": here("functionsSdk.ts"),
      "firebase-admin/eventarc": here("functionsSdk.ts"),
      "firebase-functions/logger": here("functionsSdk.ts"),
      "node:timers/promises": here("clock.ts"),
    },
    inject: [here("clock.ts")],
    define: {
      "Date.now": "simulatedNow",
      "performance.now": "simulatedNow",
      "Math.random": "simulatedRandom",
      setTimeout: "simulatedTimeout",
      clearTimeout: "simulatedClear",
      "console.warn": "simulatedWarn",
      "crypto.subtle": "simulatedDigests",
      localStorage: "simulatedStorage",
    },
    plugins: [wrapped(here("decide.ts")), wrapped(here("writePlan.ts"))],
  });
  return outfile;
}

/** Gives a wrapper to all that import the module it wraps, which is the first one that it imports. */
function wrapped(wrapper: string): Plugin {
  const [, real = ""] = /from "(.*)"/.exec(readFileSync(wrapper, "utf8")) ?? [];
  const name = real.slice(real.lastIndexOf("/") + 1);
  return {
    name: "wrapped",
    setup(build) {
      build.onResolve({ filter: new RegExp(`/${name}$`) }, ({ path, importer, resolveDir }) => {
        const isWrapped = new URL(path, `file://${resolveDir}/`).pathname === here(real);
        return isWrapped && importer !== wrapper ? { path: wrapper } : undefined;
      });
    },
  };
}
