/**
 * Reads the facts that emulators have: the rules loaded, and the functions with their triggers and parameters. They need no
 * indexes, and have no regions, rights or App Check.
 *
 * Firestore's emulator answers at `/emulator/v1/projects/{project}:securityRules`. The hub of the Emulator Suite lists the other
 * emulators at `/emulators`, and the functions emulator its functions at `/backends`, as the Emulator UI asks for them
 * (`lib/emulator/hub.js` and `functionsEmulator.js` of firebase-tools).
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { DEFAULT_PARAMETERS } from "../../../functions/src/decisions.ts";
import { type DatabaseTarget, readText } from "../databaseTarget.ts";
import { type DeployedFunction, type DeployedRules, factOf } from "./facts.ts";
import { reasonOf } from "./googleApis.ts";
import type { DeployedFacts } from "./readApis.ts";

export async function readEmulators(target: DatabaseTarget): Promise<DeployedFacts> {
  const none = (what: string) => ({ unseen: `the emulator has no ${what}` });
  const [rules, functions] = await Promise.all([
    factOf(() => readRules(target), reasonOf),
    factOf(() => readFunctions(target), reasonOf),
  ]);
  return {
    rules,
    functions,
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

async function ask<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return (await response.json()) as Answer;
}

async function readRules({ emulator, project }: DatabaseTarget): Promise<DeployedRules | null> {
  type Answer = { rules?: { files?: { content: string }[] } };
  const { rules } = await ask<Answer>(`http://${emulator}/emulator/v1/projects/${project}:securityRules`);
  const source = (rules?.files ?? []).map(({ content }) => content).join("\n");
  if (source === "") throw new Error("no rules are loaded, so the emulator allows everything");
  return { source };
}

interface Address {
  readonly host: string;
  readonly port: number;
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

/** The functions of the suite to which this Firestore emulator belongs. */
async function readFunctions({ emulator, project }: DatabaseTarget): Promise<DeployedFunction[]> {
  const hub = hubAddress(project);
  const emulators = await ask<Record<string, Address | undefined>>(`http://${hub}/emulators`).catch(() => {
    throw new Error(`no hub of the Emulator Suite answers at ${hub}; set FIREBASE_EMULATOR_HUB to its address`);
  });
  if (emulators.firestore?.port !== Number(emulator?.split(":").at(-1))) {
    throw new Error(
      `the Emulator Suite at ${hub} has another Firestore; set FIREBASE_EMULATOR_HUB to the address of its hub`,
    );
  }
  if (!emulators.functions) throw new Error("the Emulator Suite runs without functions");
  const { host, port } = emulators.functions;
  const { backends } = await ask<{ backends: Backend[] }>(`http://${host}:${port}/backends`);
  const functions = backends.flatMap((backend) => functionsOf(backend, project));
  // Each function carries the project that it runs for; other projects of the same Firestore have none.
  return functions.filter((one) => one.project === project).map(({ project: _, ...one }) => one);
}

/** The Emulator Suite sets the variable for `emulators:exec`, and keeps a file for other processes. */
function hubAddress(project: string): string {
  const { FIREBASE_EMULATOR_HUB } = process.env;
  if (FIREBASE_EMULATOR_HUB) return FIREBASE_EMULATOR_HUB;
  try {
    const { origins } = JSON.parse(readText(join(tmpdir(), `hub-${project}.json`))) as { origins: string[] };
    return new URL(origins[0] ?? "").host;
  } catch {
    return "127.0.0.1:4400";
  }
}

function functionsOf({ directory, env, functionTriggers = [] }: Backend, project: string) {
  const variables = { ...variablesIn(directory, project), ...env };
  // A kit's and a codebase's parameters may lie in another folder, which the emulator does not tell.
  const showsParameters = Object.keys(variables).some((name) => name in DEFAULT_PARAMETERS);
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
      return parseEnv(readText(join(directory, file))) as Record<string, string>;
    } catch {
      return {};
    }
  };
  return Object.assign({}, ...files.map(read));
}
