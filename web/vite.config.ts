/** Bundles the page. `firestore-tally` is the built package, as in an app. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import subsetFont from "subset-font";
import { defineConfig, type Plugin } from "vite";

/** The characters of the page's own text. Other characters, in ids, use the system's font. */
const CHARACTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}·–—’“”…−×→`;

/** Reduces the font to a quarter: one weight, and the characters of the page. */
function subsetFonts(): Plugin {
  return {
    name: "subset-fonts",
    apply: "build",
    async generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".woff2")) continue;
        const font = Buffer.from(file.source);
        file.source = await subsetFont(font, CHARACTERS, {
          targetFormat: "woff2",
          variationAxes: { wght: 400 },
          keepFeatures: ["tnum"],
        });
      }
      this.emitFile({
        type: "asset",
        fileName: "assets/font-license.txt",
        source: readFileSync(new URL("../node_modules/@fontsource-variable/geist/LICENSE", import.meta.url)),
      });
    },
    transformIndexHtml(_, { bundle = {} }) {
      return Object.keys(bundle)
        .filter((file) => file.endsWith(".woff2"))
        .map((file) => ({
          tag: "link",
          attrs: { rel: "preload", as: "font", type: "font/woff2", href: `/${file}`, crossorigin: "" },
          injectTo: "head",
        }));
    },
  };
}

/** Writes into the page which files each module of the page has that is loaded later, as `src/page/loadModule.ts` reads it. */
function listModuleFiles(): Plugin {
  return {
    name: "list-module-files",
    apply: "build",
    transformIndexHtml(_, { bundle = {} }) {
      const filesOf = (file: string, found = new Set<string>()): Set<string> => {
        const chunk = bundle[file];
        if (chunk?.type !== "chunk" || found.has(`/${file}`)) return found;
        found.add(`/${file}`);
        for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(`/${style}`);
        for (const imported of chunk.imports) filesOf(imported, found);
        return found;
      };
      const later = Object.values(bundle).flatMap((file) => {
        const [, name] =
          /\/web\/src\/.*?([^/]+)\.tsx?$/.exec((file.type === "chunk" && file.facadeModuleId) || "") ?? [];
        return name && file.type === "chunk" && file.isDynamicEntry ? [[name, [...filesOf(file.fileName)]]] : [];
      });
      const children = JSON.stringify(Object.fromEntries(later));
      return [{ tag: "script", attrs: { type: "application/json", id: "module-files" }, children, injectTo: "head" }];
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [subsetFonts(), listModuleFiles()],
  worker: { format: "es" },
  resolve: {
    // The regular expressions of Firestore pipelines, 40 kB of 140: the page uses no pipelines.
    alias: { re2js: fileURLToPath(new URL("src/firebase/re2jsStub.ts", import.meta.url)) },
  },
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // On a slow machine these would be the first lines that a build prints.
      checks: { bundlerTimings: false },
      // So that what a part loads later is not loaded first with the rest of its folder.
      treeshake: { moduleSideEffects: (id) => !/\/(core|costs|functions)\/src\//.test(id) },
    },
  },
  logLevel: "warn",
});
