/**
 * A rehearsal of deployments: the real Firebase CLI, in a copy of an app, against Google's APIs as they are known. Each deployment finds
 * what the ones before have left.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { copyApp } from "./appCopy.ts";
import { createCertificate } from "./certificate.ts";
import { type Cloud, createCloud } from "./cloud.ts";
import { recordedApis } from "./fakeApis.ts";
import { problemsOf } from "./problems.ts";
import { startProxy } from "./proxy.ts";
import { type Resources, resourcesOf, snapshotOf } from "./resources.ts";
import { DEFAULT_SCENARIO, type Scenario } from "./scenario.ts";

const FIREBASE = createRequire(import.meta.url).resolve("firebase-tools/lib/bin/firebase.js");

/** The project of a rehearsal that names none. */
export const DEFAULT_PROJECT = "demo-app";

export interface RehearsalOptions {
  /** Of the app. */
  readonly folder: string;
  readonly scenario?: Partial<Scenario>;
  readonly project?: string;
  readonly signal?: AbortSignal | undefined;
  /** Told of each line that the CLI prints. */
  readonly onLine?: ((line: string) => void) | undefined;
}

export interface Report extends Resources {
  readonly exitCode: number;
  /** What the CLI printed. */
  readonly printed: string;
  readonly seconds: number;
  /** What looks wrong. A deployment that failed has at least one. */
  readonly problems: readonly string[];
}

export interface Rehearsal {
  /** The copy of the app, which may be edited between deployments. */
  readonly folder: string;
  /** What exists. */
  readonly cloud: Cloud;
  /**
   * Runs `firebase deploy`.
   *
   * @param args  further arguments; default: all of Firestore and functions
   */
  deploy(...args: string[]): Promise<Report>;
  /** Removes the copy. */
  close(): void;
}

export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const { folder: app, scenario, project = DEFAULT_PROJECT, signal, onLine } = options;
  const scratch = mkdtempSync(join(tmpdir(), "tally-rehearsal-"));
  const folder = join(scratch, "app");
  try {
    copyApp(app, folder);
    const [certificate, registry] = await Promise.all([createCertificate(), registryHost()]);
    const authorities = join(scratch, "authorities.pem");
    writeFileSync(authorities, [...ownAuthorities(), certificate.cert].join("\n"));
    const cloud = createCloud(project, { ...DEFAULT_SCENARIO, ...scenario });
    const proxy = await startProxy(certificate, recordedApis(cloud));
    const env = {
      ...environment(proxy.url, registry),
      NODE_EXTRA_CA_CERTS: authorities,
      XDG_CONFIG_HOME: join(scratch, "config"),
    };
    return {
      ...{ folder, cloud },
      async deploy(...args) {
        const before = snapshotOf(cloud);
        cloud.problems.clear();
        const start = performance.now();
        const { exitCode, printed } = await firebase(argumentsOf(project, args), folder, env, { signal, onLine });
        const seconds = (performance.now() - start) / 1_000;
        const problems = await problemsOf(cloud, folder, { exitCode, printed, before });
        return { exitCode, printed, seconds, problems, ...resourcesOf(cloud, before) };
      },
      close() {
        proxy.close();
        rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

function argumentsOf(project: string, args: readonly string[]): string[] {
  const isLimited = args.some((arg) => /^--(only|except)\b/.test(arg));
  const all = isLimited ? [] : ["--only", "firestore,functions"];
  // Arguments with --non-interactive are a command of CI, which is rehearsed as it is.
  const force = args.includes("--non-interactive") ? [] : ["--non-interactive", "--force"];
  return ["deploy", ...force, "--project", project, ...all, ...args];
}

/** Those that this machine needs already, such as a company's: without them, the CLI's calls of npm would hang. */
function ownAuthorities(): string[] {
  const { NODE_EXTRA_CA_CERTS: file } = process.env;
  return file && existsSync(file) ? [readFileSync(file, "utf8")] : [];
}

/** Where npm installs from. A `predeploy` of the app may need it, so it is not intercepted. */
async function registryHost(): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"]);
  return new URL(stdout.trim()).hostname;
}

/** Without credentials of the user, and without what makes the CLI behave as on a CI server. */
function environment(proxy: string, registry: string): NodeJS.ProcessEnv {
  const left = Object.entries(process.env).filter(
    ([name]) =>
      !/^(CI|GITHUB_ACTIONS|GOOGLE_.*|GCLOUD_PROJECT|.*_EMULATOR_HOST|FIREBASE_.*|(https?|no)_proxy)$/i.test(name),
  );
  return {
    ...Object.fromEntries(left),
    ...{ HTTPS_PROXY: proxy, NO_PROXY: `127.0.0.1,localhost,${registry}`, FIREBASE_TOKEN: "rehearsal" },
    ...{ FIREBASE_CLI_DISABLE_UPDATE_CHECK: "1", NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1", FORCE_COLOR: "0" },
  };
}

/** Runs the CLI to its end, or ends it with all of its processes. */
async function firebase(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  { signal, onLine }: Pick<RehearsalOptions, "signal" | "onLine">,
): Promise<{ exitCode: number; printed: string }> {
  signal?.throwIfAborted();
  const child = spawn(process.execPath, [FIREBASE, ...args], {
    ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] },
    // A group of its own, so that its processes end with it.
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  signal?.addEventListener("abort", end, { once: true });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const lines = stripVTControlCharacters(rest + text).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const line of lines) {
        printed += `${line}\n`;
        if (line.trim()) onLine?.(line);
      }
    });
  }
  const [code] = await once(child, "close");
  end();
  signal?.throwIfAborted();
  return { exitCode: code ?? 1, printed };
}
