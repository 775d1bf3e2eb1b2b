/**
 * Google's counter extension, as it was released (`firestore-counter/`): its functions and its Node client, each in a process
 * of its own, with the versions of firebase-admin and firebase-functions that it names.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { OldIncrement } from "./oldApp.ts";

/** The document of its controller, which writes a time to it with each run. */
export const CONTROLLER = "_firebase_ext_/sharded_counter";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface GoogleExtension {
  /** Starts its functions, which run until `stopFunctions`. They write their log to `functions.log` of the folder. */
  startFunctions(): void;
  /** Kills them, if they run. */
  stopFunctions(): void;
  /** Lets its Node client make increments, and resolves when all were acknowledged. */
  incrementFromNode(increments: readonly OldIncrement[]): Promise<void>;
  remove(): void;
}

/** Installs what the extension depends on, from the registry, and bundles its functions. */
export async function installGoogleExtension(): Promise<GoogleExtension> {
  const folder = mkdtempSync(join(tmpdir(), "google-extension-"));
  const { dependencies } = JSON.parse(readFileSync(here("./firestore-counter/functions/package.json"), "utf8"));
  const names = ["deep-equal", "firebase-admin", "firebase-functions", "uuid"];
  const chosen = Object.fromEntries(names.map((name) => [name, dependencies[name]]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: chosen }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"], {
    cwd: folder,
    stdio: "pipe",
  });
  await build({
    entryPoints: [here("./firestore-counter/functions/src/index.ts")],
    outfile: join(folder, "functions.js"),
    bundle: true,
    platform: "node",
    packages: "external",
    tsconfigRaw: { compilerOptions: { experimentalDecorators: false } },
  });
  cpSync(here("./firestore-counter/clients/node/index.js"), join(folder, "client.js"));
  for (const program of ["runFunctions.cjs", "runNodeClient.cjs"]) {
    copyFileSync(here(`./programs/${program}`), join(folder, program));
  }
  const environment = {
    ...process.env,
    INTERNAL_STATE_PATH: CONTROLLER,
    SCHEDULE_FREQUENCY: "1",
  };
  let functions: ChildProcess | undefined;
  return {
    startFunctions() {
      const command = `exec node runFunctions.cjs >> functions.log 2>&1`;
      functions = spawn("sh", ["-c", command], { cwd: folder, env: environment, stdio: "ignore" });
    },
    stopFunctions() {
      functions?.kill("SIGKILL");
    },
    async incrementFromNode(increments) {
      const child = spawn("node", ["runNodeClient.cjs"], {
        cwd: folder,
        env: environment,
        stdio: ["pipe", "inherit", "inherit"],
      });
      child.stdin?.end(JSON.stringify(increments));
      const [exitCode] = await once(child, "exit");
      if (exitCode !== 0) throw new Error(`the Node client ended with ${exitCode}`);
    },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
