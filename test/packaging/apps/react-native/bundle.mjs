/** Bundles `count.ts` with the resolver of `examples/react-native`, which Metro uses. A name that is missing fails the build. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const { resolveFirestore } = createRequire(import.meta.url)("./resolveFirestore.js");

const metro = {
  name: "metro",
  setup({ onResolve, resolve }) {
    const platform = fileURLToPath(new URL("platform.ts", import.meta.url));
    onResolve({ filter: /^react-native(\/|$)/ }, () => ({ path: platform }));
    onResolve({ filter: /^firebase\/firestore$/ }, ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === "resolved") return;
      const context = { originModulePath: importer, resolveRequest: (_context, name) => name };
      const name = resolveFirestore(context, path, "ios");
      return resolve(name, { importer, resolveDir, kind, pluginData: "resolved" });
    });
  },
};

await build({
  entryPoints: ["count.ts"],
  outfile: "count.cjs",
  bundle: true,
  platform: "node",
  tsconfigRaw: {},
  logLevel: "error",
  plugins: [metro],
});
