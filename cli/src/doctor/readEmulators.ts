/**
 * Reads the facts that emulators have: the rules loaded, and the functions with their triggers and parameters. They need no
 * indexes, and have no regions, rights or App Check.
 *
 * Firestore's emulator answers at `/emulator/v1/projects/{project}:securityRules`, and the functions emulator lists its functions at
 * `/backends`, as the Emulator UI asks for them (`lib/emulator/functionsEmulator.js` of firebase-tools).
 */
import { join } from "node:path";
import { COUNTING_DEFAULTS } from "../../../functions/src/decisions.ts";
import { type DatabaseTarget, readText } from "../databaseTarget.ts";
import { valuesIn } from "../setup/dotenv.ts";
import { ask, findSuite } from "./emulatorSuite.ts";
import { type DeployedFunction, type DeployedRules, type EmulatorSuite, type Fact, factOf } from "./facts.ts";
import { reasonOf } from "./googleApis.ts";
import type { DeployedFacts } from "./readApis.ts";

export async function readEmulators(target: DatabaseTarget): Promise<DeployedFacts> {
  const none = (what: string) => ({ unseen: `the emulator has no ${what}` });
  const [rules, suiteAndFunctions] = await Promise.all([
    factOf(() => readRules(target), reasonOf),
    readFunctions(target),
  ]);
  return {
    rules,
    ...suiteAndFunctions,
    database: none("location"),
    indexes: none("indexes, and needs none"),
    fields: none("TTL policies and no exemptions from indexes"),
    queue: none("state of queues"),
    failedTasks: none("attempts of tasks"),
    grants: none("rights"),
    sweepJob: none("jobs of Cloud Scheduler"),
    appCheck: none("App Check"),
  };
}

async function readRules({ emulator, project }: DatabaseTarget): Promise<DeployedRules | null> {
  type Answer = { rules?: { files?: { content: string }[] } };
  const { rules } = await ask<Answer>(`http://${emulator}/emulator/v1/projects/${project}:securityRules`);
  const source = (rules?.files ?? []).map(({ content }) => content).join("\n");
  if (source === "") throw new Error("no rules are loaded, so the emulator allows everything");
  return { source };
}

interface Backend {
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly functionTriggers?: readonly {
    readonly name: string;
    readonly region: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly eventTrigger?: {
      readonly eventFilters?: Readonly<Record<string, string>>;
      readonly eventFilterPathPatterns?: Readonly<Record<string, string>>;
    };
  }[];
}

interface SuiteFacts {
  readonly suite: Fact<EmulatorSuite>;
  readonly functions: Fact<readonly DeployedFunction[]>;
}

/** The suite to which this Firestore emulator belongs, and its functions for the project. */
async function readFunctions(target: DatabaseTarget): Promise<SuiteFacts> {
  const { project } = target;
  const suite = await findSuite(target);
  const answer =
    suite.functions === null
      ? undefined
      : await ask<{ backends: Backend[] }>(`http://${suite.functions}/backends`).catch(() => undefined);
  const functions = answer?.backends.flatMap((backend) => functionsOf(backend, suite.project ?? project)) ?? [];
  // Each function carries the project that it runs for.
  const own = functions.filter((one) => one.project === project).map(({ project: _, ...one }) => one);
  return {
    suite: {
      value: {
        ...suite,
        project: own.length > 0 ? project : (functions[0]?.project ?? suite.project),
      },
    },
    functions:
      own.length > 0 || (answer && functions.length === 0) ? { value: own } : { unseen: whyUnseen(suite, answer) },
  };
}

function whyUnseen({ functions }: EmulatorSuite, answer: object | undefined): string {
  const isSilent = functions !== null && answer === undefined;
  return isSilent
    ? `the Functions emulator at ${functions} does not answer`
    : "the Emulator Suite runs none for this project";
}

function functionsOf({ directory, env, functionTriggers = [] }: Backend, project: string) {
  const variables = { ...variablesIn(directory, project), ...env };
  // A kit's and a codebase's parameters may lie in another folder, which the emulator does not tell.
  const showsParameters = Object.keys(variables).some((name) => name in COUNTING_DEFAULTS);
  return functionTriggers.map(({ name, region, labels, eventTrigger }) => ({
    name,
    region,
    state: "ACTIVE",
    runtime: null,
    variables: showsParameters ? variables : null,
    serviceAccount: null,
    project: /\/projects\/([^/]+)\//.exec(Object.values(labels ?? {}).join())?.[1] ?? project,
    trigger: eventTrigger?.eventFilterPathPatterns
      ? {
          database: eventTrigger.eventFilters?.database ?? null,
          document: eventTrigger.eventFilterPathPatterns.document ?? null,
          region: null,
          retries: null,
        }
      : null,
  }));
}

/** The parameters, from the files that the emulator reads in this order, unless the functions have a folder of their own for them. */
function variablesIn(directory: string, project: string): Record<string, string> {
  const files = [".env", `.env.${project}`, ".env.local"];
  const read = (file: string) => {
    try {
      return valuesIn(readText(join(directory, file)));
    } catch {
      return {};
    }
  };
  return Object.assign({}, ...files.map(read));
}
