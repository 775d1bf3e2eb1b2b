/**
 * Google's counter itself: the functions of its extension or of its kit, and the extension's web and Node clients. They are built in
 * a temporary folder and run in processes of their own, with the versions of firebase-admin and firebase-functions that it names.
 * The kit has no clients: the clients of testkit/legacy write beside its functions.
 */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { admin } from "../../testkit/clients.ts";
import type { LegacyPage } from "../../testkit/legacy/clients.ts";
import { type LegacyApp, openLegacyApp } from "./legacyApp.ts";

/**
 * A folder of a checkout of https://github.com/firebase/extensions: `firestore-counter`, the extension, or `kits/firestore-counter`,
 * the kit. Or the kit's npm package, unpacked.
 */
export const PEER = process.env.TALLY_PEER_DIR;

/** The document of its controller, which writes a time to it with each run. */
const CONTROLLER = "_firebase_ext_/sharded_counter";

const [PAGES, SERVERS] = [4, 2];

type Run = (args: string[]) => ReturnType<typeof spawn>;

/** Installs what it depends on, from the registry, and bundles it. */
export async function openGoogleCounter(): Promise<LegacyApp> {
  const folder = mkdtempSync(join(tmpdir(), "google-counter-"));
  const peer = resolve(PEER as string);
  const hasClients = existsSync(join(peer, "clients"));
  await buildIn(folder, peer, hasClients);
  const environment = { ...process.env, INTERNAL_STATE_PATH: CONTROLLER, SCHEDULE_FREQUENCY: "1" };
  const run: Run = (args) =>
    spawn(process.execPath, args, { cwd: folder, env: environment, stdio: ["pipe", "pipe", "inherit"] });
  const clients = hasClients ? startClients(run) : await openLegacyApp();
  let functions: ReturnType<Run> | undefined;
  let before: string;
  const lastRun = async () => JSON.stringify((await admin.doc(CONTROLLER).get()).get("timestamp")) ?? "";
  return {
    pages: clients.pages,
    servers: clients.servers,
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
      await clients.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function startClients(run: Run): Pick<LegacyApp, "pages" | "servers" | "close"> {
  const clients = [...Array(PAGES).fill("web"), ...Array(SERVERS).fill("node")].map((kind) =>
    clientIn(run(["runClient.cjs", kind])),
  );
  return {
    pages: clients.slice(0, PAGES).map(({ page }) => page) as [LegacyPage, ...LegacyPage[]],
    servers: clients.slice(PAGES).map(({ page }) => page),
    async close() {
      for (const { end } of clients) end();
    },
  };
}

async function buildIn(folder: string, peer: string, hasClients: boolean): Promise<void> {
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const functions = hasClients ? join(peer, "functions") : peer;
  const { dependencies } = read(join(functions, "package.json"));
  const chosen = ["deep-equal", "firebase-admin", "firebase-functions", "uuid"].map((name) => [
    name,
    dependencies[name],
  ]);
  // The web client works with any version from 9 on.
  const { firebase } = read(fileURLToPath(new URL("../../package.json", import.meta.url))).devDependencies;
  const installed = { ...Object.fromEntries(chosen), firebase };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: installed }));
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  execFileSync("npm", ["install", ...options], { cwd: folder, stdio: "pipe" });
  const source = join(functions, "src/index.ts");
  await build({
    entryPoints: {
      functions: existsSync(source) ? source : join(functions, "lib/index.js"),
      ...(hasClients && { web: join(peer, "clients/web/src/index.ts"), node: join(peer, "clients/node/index.js") }),
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
