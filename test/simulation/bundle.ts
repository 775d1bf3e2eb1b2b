/**
 * Bundles the simulation with the code under test: the real sources, in which the SDKs, the clock and chance are the
 * simulation's. A mutation replaces a text of one source.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export interface Mutation {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** @returns the path of a module that exports `simulate`, `scenarioOf` and `minimize` */
export async function bundle(outfile: string, mutation?: Mutation): Promise<string> {
  await build({
    entryPoints: [here("entry.ts")],
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
      "firebase-functions/params": here("functionsSdk.ts"),
      "firebase-functions": here("functionsSdk.ts"),
      "node:timers/promises": here("clock.ts"),
    },
    inject: [here("clock.ts")],
    define: {
      "Date.now": "simulatedNow",
      "Math.random": "simulatedRandom",
      setTimeout: "simulatedTimeout",
      "console.warn": "simulatedWarn",
    },
    plugins: mutation ? [mutate(mutation)] : [],
  });
  return outfile;
}

function mutate({ file, find, replace }: Mutation) {
  return {
    name: "mutate",
    setup(build: import("esbuild").PluginBuild) {
      let done = false;
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path !== `${repository}${file}`) return undefined;
        const source = await readFile(path, "utf8");
        if (source.split(find).length !== 2)
          throw new Error(`${file} has "${find}" ${source.split(find).length - 1} times`);
        done = true;
        return { contents: source.replace(find, () => replace), loader: "ts" };
      });
      build.onEnd(() => {
        if (!done) throw new Error(`${file} is not part of the simulation`);
      });
    },
  };
}
