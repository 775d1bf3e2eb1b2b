/** Builds what is shipped: the client package, entry by entry, the functions, each with core bundled in, and the page. */
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from "@microsoft/api-extractor";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { build as bundlePage } from "vite";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const shared = { bundle: true, format: "esm", sourcemap: true, logLevel: "warning" } as const;

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

/** A part of an entry that is loaded when it is needed: a file beside the entry, in the same format. */
const loadedLater = (format: "js" | "cjs"): Plugin => ({
  name: "loaded-later",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/\w+\.ts$/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: path.replace(/ts$/, format), external: true } : undefined,
    );
  },
});

/** What apps import: `firestore-tally` is `index`, the others are below it. */
const entries = {
  index: "client/src/web",
  admin: "admin/src",
  beacon: "client/src/beacon",
  react: "client/src/react",
  testing: "client/src/testing",
};

for (const folder of ["client/dist", "client/types"]) rmSync(folder, { recursive: true, force: true });
const [cli] = await Promise.all([
  build({
    ...shared,
    entryPoints: ["cli/src/index.ts"],
    outfile: "client/dist/cli.js",
    platform: "node",
    target: "node20",
    plugins: [lazyPeer],
    // Of cli-table3, for styles that are not used.
    external: ["@colors/colors"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    sourcemap: false,
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
  }),
  ...Object.entries(entries).map(([entry, folder]) => buildModule(entry, `${folder}/index.ts`)),
  buildModule("totals", "client/src/web/totals.ts"),
  build({
    ...shared,
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

// What users deploy is part of the client package.
for (const file of ["LICENSE", "firestore.rules", "firestore.indexes.json"]) copyFileSync(file, `client/${file}`);
copyFileSync("LICENSE", "functions/LICENSE");

// One declaration file for each entry. The report of its public API is held against the one in client/api by a test.
execFileSync("tsc", ["-p", "client/tsconfig.json"], { stdio: "inherit" });
const { index, ...others } = entries;
declare([declaration(index, "client/dist/index.d.ts", "index")]);
// These import the declarations of the index.
declare([
  ...Object.entries(others).map(([entry, folder]) => declaration(folder, `client/dist/${entry}.d.ts`, entry)),
  declaration("functions/src", "functions/lib/index.d.ts"),
]);
for (const entry of Object.keys(entries)) copyFileSync(`client/dist/${entry}.d.ts`, `client/dist/${entry}.d.cts`);

/**
 * Builds a module in both formats. They share the short names of private properties, so a reference that one format has
 * made works in the other.
 */
async function buildModule(name: string, source: string): Promise<void> {
  const options = {
    ...shared,
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
    plugins: [loadedLater("js")],
    mangleCache: {},
  });
  await build({
    ...options,
    outfile: `client/dist/${name}.cjs`,
    format: "cjs",
    plugins: [loadedLater("cjs")],
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

/** Rolls the declarations of a folder's index up into one file. A `report` of them is a file in client/api. */
function declaration(folder: string, file: string, report?: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: `<projectFolder>/client/types/${folder}/index.d.ts`,
      newlineKind: "lf",
      // Not the project's own: there, `firestore-tally` is the source instead of the package.
      compiler: { overrideTsconfig: { compilerOptions: { module: "nodenext", strict: true, types: ["node"] } } },
      apiReport: {
        enabled: report !== undefined,
        reportFileName: `${report}.api.md`,
        reportFolder: "<projectFolder>/client/api",
        reportTempFolder: "<projectFolder>/client/types/api",
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: `<projectFolder>/${file}` },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Error },
          // Every export is public, so there are no release tags.
          "ae-missing-release-tag": { logLevel: ExtractorLogLevel.None },
          // Without a report the entry exports functions to deploy; the types of their events are not for import.
          ...(!report && { "ae-forgotten-export": { logLevel: ExtractorLogLevel.None } }),
        },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: `${process.cwd()}/client/package.json`,
  });
}

/** One analysis by the compiler serves all: it takes seconds. */
function declare(configs: readonly ExtractorConfig[]): void {
  const [first, ...others] = configs as [ExtractorConfig, ...ExtractorConfig[]];
  const additionalEntryPoints = others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
  const compilerState = CompilerState.create(first, { additionalEntryPoints });
  for (const config of configs) {
    const { errorCount } = Extractor.invoke(config, {
      compilerState,
      localBuild: process.argv.includes("--update-api"),
      messageCallback: (message) => {
        if (message.category === ExtractorMessageCategory.Console) message.handled = true;
      },
    });
    if (errorCount > 0) throw new Error(`${config.untrimmedFilePath} has errors, see above.`);
  }
}
