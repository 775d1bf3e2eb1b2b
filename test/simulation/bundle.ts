/**
 * Bundles the simulation with the code under test: the real sources, with the SDKs, the clock and random numbers replaced.
 * A mutation replaces one function or constant by a faulty one.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** A declaration at the top level of a module, which a mutation can replace. */
export interface Seam {
  /** Path of the source, from the root of the repository. */
  readonly module: string;
  /** Name of a function or constant, exported or not. */
  readonly declaration: string;
}

/** @returns the path of the bundle, whose exports are those of bundleEntry.ts */
export async function bundle(
  outfile: string,
  mutation?: { readonly name: string; readonly seam: Seam },
): Promise<string> {
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
      "firebase-functions": here("functionsSdk.ts"),
      "node:timers/promises": here("clock.ts"),
    },
    inject: [here("clock.ts")],
    define: {
      "Date.now": "simulatedNow",
      "Math.random": "simulatedRandom",
      setTimeout: "simulatedTimeout",
      clearTimeout: "simulatedClear",
      "console.warn": "simulatedWarn",
      "crypto.subtle": "simulatedDigests",
      localStorage: "simulatedStorage",
    },
    plugins: mutation ? [mutate(mutation.name, mutation.seam)] : [],
  });
  return outfile;
}

/** Renames the declaration, and declares the faulty one under its name. */
function mutate(name: string, { module, declaration }: Seam): Plugin {
  return {
    name: "mutate",
    setup(build) {
      let isDone = false;
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path !== `${repository}${module}`) return undefined;
        const source = await readFile(path, "utf8");
        const found = [
          ...source.matchAll(new RegExp(`^(export )?((?:async )?function|const) ${declaration}\\b`, "gm")),
        ];
        const [[text = "", exported = "", kind = ""] = []] = found;
        if (found.length !== 1) throw new Error(`${module} declares ${declaration} ${found.length} times`);
        isDone = true;
        const contents = `
          import { mutations } from ${JSON.stringify(here("mutations.ts"))};
          ${source.replace(text, `${kind} real_${declaration}`)}
          ${exported}const ${declaration} = mutations[${JSON.stringify(name)}].mistake(real_${declaration});`;
        return { contents, loader: "ts" };
      });
      build.onEnd(() => {
        if (!isDone) throw new Error(`${module} is not part of the simulation`);
      });
    },
  };
}
