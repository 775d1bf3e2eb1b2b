/**
 * What `firebase deploy` would create of an app, and what looks wrong: the real CLI against a fake of Google's APIs.
 *
 *     npm run rehearse -- <folder> [options] [arguments of firebase deploy]
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { databaseOf, type FirestoreEntry, firestoreEntries } from "../../cli/src/firestoreEntries.ts";
import { readFirebaseJson } from "./firebaseJson.ts";
import { DEFAULT_PROJECT, startRehearsal } from "./rehearsal.ts";
import { reportText } from "./reportText.ts";
import { DEFAULT_SCENARIO, type Scenario } from "./scenario.ts";

interface Options {
  readonly database: boolean;
  readonly databaseLocation?: string;
  readonly project: string;
}

const INTERRUPTED = 130;

const EXAMPLES = `
Examples:
  npm run rehearse -- ../shop                              with a database in nam5, or where firebase.json has it
  npm run rehearse -- ../shop --database-location eur3     with one in eur3
  npm run rehearse -- ../shop --no-database                without one: the CLI creates it
  npm run rehearse -- ../shop --only functions:tally       with arguments of firebase deploy
  npm run rehearse -- ../shop --only functions --non-interactive --force
                                                           a command of CI as it is; without --non-interactive, both are added

The exit code is 1 if the deployment fails or anything looks wrong. A predeploy of the app runs as it does
for you. Nothing else changes the folder, and nothing else reaches the network.`;

const program = new Command("npm run rehearse --")
  .description("Shows what `firebase deploy` would create of an app, and what looks wrong.")
  .argument("<folder>", "of the app, with firebase.json; its functions are installed, or a predeploy installs them")
  .argument("[arguments...]", "of firebase deploy (default: --only firestore,functions)")
  .option("--database-location <location>", "the databases exist there")
  .option("--no-database", "no database exists yet")
  .option("-P, --project <id>", "for its .env.<project> and .firebaserc", DEFAULT_PROJECT)
  .allowUnknownOption()
  .addHelpText("after", EXAMPLES)
  .parse();
const [folder = "", ...args] = program.args;
const options = program.opts<Options>();
process.exitCode = await main();

async function main(): Promise<number> {
  if (!existsSync(join(folder, "firebase.json"))) {
    console.error(`${folder}: there is no firebase.json; name the folder of an app that has one`);
    return 2;
  }
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
  const rehearsal = await startRehearsal({
    ...{ folder, project: options.project, scenario: scenarioOf(), signal: interruption.signal },
    onLine: (line) => console.error(line),
  });
  try {
    const report = await rehearsal.deploy(...args);
    console.log(reportText(report));
    return report.exitCode === 0 && report.problems.length === 0 ? 0 : 1;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    rehearsal.close();
  }
}

function scenarioOf(): Partial<Scenario> {
  const { database, databaseLocation } = options;
  if (!database) return { databases: {} };
  const entries: FirestoreEntry[] = [{ database: "(default)" }, ...firestoreEntries(readFirebaseJson(folder))];
  const databases = entries.flatMap((entry) => {
    const id = databaseOf(entry);
    if (id === undefined) return [];
    const locationId = databaseLocation ?? entry.location ?? DEFAULT_SCENARIO.databases["(default)"]?.locationId ?? "";
    const databaseEdition = entry.edition?.toUpperCase() === "ENTERPRISE" ? "ENTERPRISE" : "STANDARD";
    return [[id, { locationId, databaseEdition }] as const];
  });
  return { databases: Object.fromEntries(databases) };
}
