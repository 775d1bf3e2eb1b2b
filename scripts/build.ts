/**
 * Builds what is shipped: the client package, entry by entry, the functions, each with core bundled in, and the page. Without a change
 * since the last build it does nothing.
 */
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { build as bundlePage } from "vite";
import { isUpToDate, recordBuild } from "./buildRecord.ts";
import { ENTRIES } from "./entries.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

/** What all bundles have in common. */
const BUNDLE = { bundle: true, format: "esm", sourcemap: true, logLevel: "warning" } as const;

const updateApi = process.argv.filter((word) => word === "--update-api");
if (updateApi.length === 0 && isUpToDate()) process.exit();

/**
 * The CLI is one file, and `firebase-admin` may be missing: then it says so. A static import would fail before any of its
 * code runs. So it is loaded like a CommonJS module, when the first module that needs it is.
 */
const lazyPeer: Plugin = {
  name: "lazy-peer",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^firebase-admin\// }, ({ path, namespace }) =>
      namespace === "peer" ? { path, external: true } : { path, namespace: "peer" },
    );
    onLoad({ filter: /.*/, namespace: "peer" }, ({ path }) => ({ contents: `module.exports = require("${path}");` }));
  },
};

/** Parts of the web entry that are loaded when they are needed. */
const LOADED_LATER = ["totals", "serverTime", "whyRefused", "recovery"];

/** Such a part is a file beside the entry, in the same format. */
const loadedLater = (format: "js" | "cjs"): Plugin => ({
  name: "loaded-later",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/\w+\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: path.replace(/ts$/, format), external: true } : undefined,
    );
  },
});

/**
 * One import of the SDK in the web entry, instead of one in each of its modules: bundlers that keep imports whose names an app does
 * not use keep one.
 */
const oneSdkImport: Plugin = {
  name: "one-sdk-import",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^firebase\/firestore$/ }, ({ path, namespace }) =>
      namespace === "sdk" ? { path, external: true } : { path, namespace: "sdk", sideEffects: false },
    );
    onLoad({ filter: /.*/, namespace: "sdk" }, ({ path }) => ({
      contents: `export { ${namesOf(path).join(", ")} } from "${path}";`,
    }));
  },
};

/** The values that the sources import from a package. */
function namesOf(path: string): string[] {
  const sources = globSync("client/src/web/*.ts", { exclude: ["**/*.test.ts"] }).map((file) =>
    readFileSync(file, "utf8"),
  );
  const lists = sources.flatMap((text) => [...text.matchAll(/^import \{([^}]*)\} from "(.*)";$/gm)]);
  const names = lists.flatMap(([, list = "", from]) => (from === path ? list.split(",") : []));
  return [...new Set(names.map((name) => name.trim()))].filter((name) => name && !name.startsWith("type "));
}

for (const folder of ["client/dist", "client/types", "client/samples", "client/ops"])
  rmSync(folder, { recursive: true, force: true });
await Promise.all([buildDeclarations(), buildCode()]);
// What users deploy is part of the client package.
for (const file of ["LICENSE", "firestore.rules", "firestore.indexes.json"]) copyFileSync(file, `client/${file}`);
cpSync("cli/samples", "client/samples", { recursive: true });
cpSync("ops", "client/ops", { recursive: true });
copyFileSync("LICENSE", "functions/LICENSE");
recordBuild();

async function buildCode(): Promise<void> {
  const [cli] = await Promise.all([
    build({
      ...BUNDLE,
      entryPoints: ["cli/src/index.ts"],
      outfile: "client/dist/cli.js",
      platform: "node",
      target: "node22",
      // Modules of which parts can be left out; jsonc-parser's CommonJS cannot be bundled.
      mainFields: ["module", "main"],
      plugins: [lazyPeer],
      // Of cli-table3, for styles that are not used.
      external: ["@colors/colors"],
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      sourcemap: false,
      minifySyntax: true,
      minifyWhitespace: true,
      metafile: true,
    }),
    ...Object.entries(ENTRIES).map(([entry, folder]) => buildModule(entry, `${folder}/index.ts`)),
    ...LOADED_LATER.map((name) => buildModule(name, `client/src/web/${name}.ts`)),
    build({
      ...BUNDLE,
      entryPoints: ["functions/src/index.ts"],
      outfile: "functions/lib/index.js",
      // What functions/package.json depends on.
      external: ["@google-cloud/*", "firebase-admin/*", "firebase-functions", "firebase-functions/*"],
      platform: "node",
      target: "node22",
    }),
  ]);
  writeFileSync("client/dist/cli.licenses.txt", licensesOf(cli.metafile));
  // The page takes the client as it is shipped.
  await bundlePage({ configFile: "web/vite.config.ts" });
}

async function buildDeclarations(): Promise<void> {
  await run("tsc", "-p", "client/tsconfig.json");
  await run("node", "scripts/declarations.ts", ...updateApi);
}

/** Runs a program to its end. @throws Error with what it has printed, if it fails */
async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(program, args).catch(({ stdout, stderr }) => {
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  });
}

/**
 * Builds a module in both formats. They share the short names of private properties, so a reference that one format has
 * made works in the other.
 */
async function buildModule(name: string, source: string): Promise<void> {
  const options = {
    ...BUNDLE,
    entryPoints: [source],
    external: ["firebase/*", "firebase-admin/*", "firestore-tally", "react", "node:*"],
    target: "es2022",
    // Private properties start with an underscore.
    mangleProps: /^_[a-z]/,
    minifySyntax: true,
  } satisfies BuildOptions;
  const { mangleCache = {} } = await build({
    ...options,
    outfile: `client/dist/${name}.js`,
    plugins: [loadedLater("js"), oneSdkImport],
    mangleCache: {},
  });
  await build({
    ...options,
    outfile: `client/dist/${name}.cjs`,
    format: "cjs",
    // Names the exports where Node finds them: an `import()` of the file has them, too.
    platform: "node",
    plugins: [loadedLater("cjs"), oneSdkImport],
    mangleCache,
    define: { "import.meta.url": "__filename" },
  });
}

/** The licenses of what is bundled, as they demand. */
function licensesOf({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).map((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const texts = [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
      const file = readdirSync(folder).find((one) => /^licen[sc]e/i.test(one));
      if (!file) throw new Error(`${name} is bundled into the CLI, but has no license file.`);
      return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
    });
  return texts.sort().join(`\n${"─".repeat(80)}\n\n`);
}
