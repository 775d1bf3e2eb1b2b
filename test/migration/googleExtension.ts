/**
 * Google's counter extension itself, from a checkout: its functions, its web client and its Node client. They are built in a
 * temporary folder and run in processes of their own, with the versions of firebase-admin and firebase-functions that it names.
 */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { admin } from "../../testkit/clients.ts";
import type { LegacyPage } from "../../testkit/legacy/clients.ts";
import type { LegacyApp } from "./legacyApp.ts";

/** The folder `firestore-counter` of a checkout of https://github.com/firebase/extensions, with `functions/src` and `clients/`. */
export const PEER = process.env.TALLY_PEER_DIR;

/** The document of its controller, which writes a time to it with each run. */
const CONTROLLER = "_firebase_ext_/sharded_counter";

const [PAGES, SERVERS] = [4, 2];

/** Installs what the extension depends on, from the registry, and bundles it. */
export async function openGoogleExtension(): Promise<LegacyApp> {
  const folder = mkdtempSync(join(tmpdir(), "google-extension-"));
  await buildIn(folder, resolve(PEER as string));
  const environment = { ...process.env, INTERNAL_STATE_PATH: CONTROLLER, SCHEDULE_FREQUENCY: "1" };
  const run = (args: string[]) =>
    spawn(process.execPath, args, { cwd: folder, env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const clients = [...Array(PAGES).fill("web"), ...Array(SERVERS).fill("node")].map((kind) =>
    clientIn(run(["runClient.cjs", kind])),
  );
  let functions: ReturnType<typeof run> | undefined;
  let before: string;
  const lastRun = async () => JSON.stringify((await admin.doc(CONTROLLER).get()).get("timestamp")) ?? "";
  return {
    pages: clients.slice(0, PAGES).map(({ page }) => page) as [LegacyPage, ...LegacyPage[]],
    servers: clients.slice(PAGES).map(({ page }) => page),
    async startFunctions() {
      before = await lastRun();
      functions = run(["runFunctions.cjs"]);
      functions.stdout?.resume();
    },
    haveMoved: async () => (await lastRun()) !== before,
    async killFunctions() {
      functions?.kill("SIGKILL");
    },
    async close() {
      for (const { end } of clients) end();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function buildIn(folder: string, peer: string): Promise<void> {
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const { dependencies } = read(join(peer, "functions/package.json"));
  const chosen = ["deep-equal", "firebase-admin", "firebase-functions", "uuid"].map((name) => [
    name,
    dependencies[name],
  ]);
  // Its web client works with any version from 9 on.
  const { firebase } = read(fileURLToPath(new URL("../../package.json", import.meta.url))).devDependencies;
  const installed = { ...Object.fromEntries(chosen), firebase };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: installed }));
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  execFileSync("npm", ["install", ...options], { cwd: folder, stdio: "pipe" });
  await build({
    entryPoints: {
      functions: join(peer, "functions/src/index.ts"),
      web: join(peer, "clients/web/src/index.ts"),
      node: join(peer, "clients/node/index.js"),
    },
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    format: "cjs",
    platform: "node",
    packages: "external",
    tsconfigRaw: {},
  });
  for (const program of ["runFunctions.cjs", "runClient.cjs"]) {
    copyFileSync(new URL(`./programs/${program}`, import.meta.url), join(folder, program));
  }
}

/** A client in a process (programs/runClient.cjs). */
function clientIn(child: ReturnType<typeof spawn>): { page: LegacyPage; end(): void } {
  const waiting = new Map<number, () => void>();
  const watchers: ((total: number) => void)[] = [];
  const send = (command: object) => child.stdin?.write(`${JSON.stringify(command)}\n`);
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { id, total } = JSON.parse(line);
      if (total === undefined) waiting.get(id)?.();
      else for (const show of watchers) show(total);
    });
  }
  let sent = 0;
  return {
    page: {
      increment: (increment) =>
        new Promise((resolve) => {
          const id = sent++;
          waiting.set(id, resolve);
          send({ id, increment });
        }),
      watch(document, field, show) {
        watchers.push(show);
        send({ watch: { document, field } });
        return () => void watchers.splice(watchers.indexOf(show), 1);
      },
    },
    end: () => child.kill("SIGKILL"),
  };
}
