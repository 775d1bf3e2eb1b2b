/** Installs the packed kit into a Firebase project as firebase-tools does it for a user, template and build included. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROJECT } from "../firebase.ts";
import { startRegistry } from "./registry.ts";

/** Of a folder of this repository. */
const FOLDER = fileURLToPath(new URL("../../../functions", import.meta.url));

/** The name of the instance in the tests, which is part of the functions' names. */
const INSTANCE = "main";

export interface Question {
  readonly message: string;
  readonly default?: string | number | boolean | undefined;
}

export interface InstallOrder {
  readonly packageName: string;
  readonly projectId: string;
  /** The template of `functions:kits:install`, or of `ext:migrate`. */
  readonly template: "installation" | "migration";
  readonly instanceId: string;
  /** What `ext:migrate` has exported from the extension. */
  readonly exported?: Record<string, string> | undefined;
  /** By a part of the question. The others are answered by their default. */
  readonly answers: Record<string, string>;
}

export interface InstalledKit {
  /** The folder with the parameters of the instance. */
  readonly configFolder: string;
  /** The folder of the template. */
  readonly sourceFolder: string;
  /** What firebase-tools asked. Confirmations are answered by yes. */
  readonly questions: readonly Question[];
  /** What firebase-tools and npm printed. */
  readonly printed: string;
}

/**
 * @param project   the folder of the project, with a firebase.json
 * @param exported  the parameters of an extension, to migrate it; without them the kit is installed afresh
 * @throws Error with what was printed, if firebase-tools refuses
 */
export async function installKit(project: string, exported?: Record<string, string>): Promise<InstalledKit> {
  const { name: packageName } = JSON.parse(readFileSync(join(FOLDER, "package.json"), "utf8"));
  const order: InstallOrder = {
    ...{ packageName, projectId: PROJECT, instanceId: INSTANCE, exported },
    template: exported ? "migration" : "installation",
    answers: { FUNCTION_DEFAULT_REGION: "us-central1" },
  };
  const registry = await startRegistry(FOLDER);
  try {
    const child = fork(new URL("installProcess.ts", import.meta.url), [JSON.stringify(order)], {
      cwd: project,
      env: { ...process.env, npm_config_registry: registry.url, NO_COLOR: "1", IS_FIREBASE_CLI: "1" },
      silent: true,
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    let questions: readonly Question[] = [];
    child.once("message", (message) => {
      questions = message as Question[];
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`The installation of the kit ended with code ${code}:\n${printed}`);
    const { functions } = JSON.parse(readFileSync(join(project, "firebase.json"), "utf8"));
    const { source, instances } = functions.find((one: { kit?: string }) => one.kit);
    return {
      ...{ configFolder: join(project, instances[INSTANCE]), sourceFolder: join(project, source) },
      ...{ questions, printed },
    };
  } finally {
    registry.close();
  }
}
