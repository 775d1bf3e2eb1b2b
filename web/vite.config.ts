/** Bundles the page. `firestore-tally` is the built package, as an app has it. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import subsetFont from "subset-font";
import { defineConfig, type Plugin } from "vite";

/** What the page writes. Ids of counters with other letters are shown in the system's font. */
const LETTERS = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}·–—’“”…−×→`;

/** A quarter of the font: its one weight, and the letters that the page writes. */
function subsetFonts(): Plugin {
  return {
    name: "subset-fonts",
    apply: "build",
    async generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".woff2")) continue;
        const font = Buffer.from(file.source);
        file.source = await subsetFont(font, LETTERS, {
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

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [subsetFonts()],
  worker: { format: "es" },
  resolve: {
    // The regular expressions of Firestore's pipelines, which the page has none of: 40 kB of 140.
    alias: { re2js: fileURLToPath(new URL("src/firebase/noPipelines.ts", import.meta.url)) },
  },
  build: {
    target: "es2022",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
  },
  logLevel: "warn",
});
