/** Apps in temporary folders, which install the packed packages from their tarballs. */
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { OPEN_RULES } from "../../testkit/rules.ts";

/** One installed app. */
export interface Consumer {
  readonly folder: string;
  /** Runs a command of the app's dependencies, or `node`. @throws Error with what it printed, if it fails */
  run(program: string, args: string[], env?: Record<string, string>): Promise<string>;
  /** Starts a command that goes on. @returns a function that ends it */
  start(program: string, args: string[], env?: Record<string, string>): () => void;
  write(file: string, text: string): void;
  /** A folder within, copied from one of this repository. Its dependencies are this app's. */
  at(name: string, source: string): Consumer;
}

export interface Workshop {
  /** Packed packages: what `dependencies` name in place of a version. */
  readonly client: string;
  readonly kit: string;
  /**
   * Makes an app and installs it, two at a time.
   *
   * @param source  a folder of this repository to copy, if any
   * @param options  more options of `npm install`
   */
  install(name: string, dependencies: Record<string, string>, source?: string, options?: string[]): Promise<Consumer>;
  /** Deletes every app. */
  close(): Promise<void>;
}

const execute = promisify(execFile);

/** Packs both packages. */
export async function openWorkshop(): Promise<Workshop> {
  const root = mkdtempSync(join(tmpdir(), "tally-apps-"));
  const pack = async (folder: string) => {
    const { stdout } = await execute("npm", ["pack", "--silent", "--pack-destination", root, folder]);
    return `file:${join(root, stdout.trim())}`;
  };
  const [client, kit] = [await pack("./client"), await pack("./functions")];
  const lanes: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()];
  let installs = 0;
  return {
    client,
    kit,
    install(name, dependencies, source, options = []) {
      const folder = join(root, name);
      mkdirSync(folder);
      if (source) cpSync(source, folder, { recursive: true });
      const manifest = { name, private: true, dependencies: { "firestore-tally": client, ...dependencies } };
      const app = createConsumer(folder);
      app.write("package.json", JSON.stringify(manifest, undefined, 2));
      const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"];
      const lane = installs++ % lanes.length;
      const installed = (lanes[lane] as Promise<unknown>).then(() => app.run("npm", ["install", ...flags, ...options]));
      lanes[lane] = installed.catch(() => {});
      return installed.then(() => app);
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

function createConsumer(folder: string, root = folder): Consumer {
  const path = [join(root, "node_modules/.bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  const options = (env: Record<string, string>) => ({
    cwd: folder,
    timeout: 200_000,
    // The rules of the suite, which other tests use at the same time.
    env: { ...process.env, NODE_ENV: undefined, PATH: path, RULES: OPEN_RULES, ...env },
  });
  return {
    folder,
    async run(program, args, env = {}) {
      try {
        return (await execute(program, args, options(env))).stdout;
      } catch (error) {
        const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
        throw new Error(`${program} ${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
      }
    },
    start(program, args, env = {}) {
      const child = spawn(program, args, { ...options(env), timeout: undefined, stdio: "ignore" });
      return () => child.kill();
    },
    write(file, text) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    },
    at(name, source) {
      cpSync(source, join(folder, name), { recursive: true });
      return createConsumer(join(folder, name), folder);
    },
  };
}
