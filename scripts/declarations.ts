/**
 * One declaration file for each entry, from those that `tsc -p client` has written, with a report of its public API. A test compares the
 * report with the one in client/api. A process of its own, so that the build does the rest meanwhile.
 */
import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  ExtractorMessageCategory,
} from "@microsoft/api-extractor";
import { ENTRIES } from "./entries.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const { index, ...others } = ENTRIES;
declare([declaration(index, "client/dist/index.d.ts", "index")]);
// `react` imports the declarations of the index.
declare([
  ...Object.entries(others).map(([entry, folder]) => declaration(folder, `client/dist/${entry}.d.ts`, entry)),
  declaration("functions/src", "functions/lib/index.d.ts"),
]);
for (const entry of Object.keys(ENTRIES)) copyFileSync(`client/dist/${entry}.d.ts`, `client/dist/${entry}.d.cts`);

/** Rolls the declarations of a folder's index up into one file. A `report` of them is a file in client/api. */
function declaration(folder: string, file: string, report?: string): ExtractorConfig {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: `<projectFolder>/client/types/${folder}/index.d.ts`,
      newlineKind: "lf",
      // Not the project's own: there, `firestore-tally` is the source instead of the package.
      compiler: {
        overrideTsconfig: {
          compilerOptions: { module: "nodenext", strict: true, types: ["node"], skipLibCheck: true },
        },
      },
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
