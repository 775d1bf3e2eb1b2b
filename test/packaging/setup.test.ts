/**
 * From `npx firestore-tally init` to a view and a like that are counted, in apps with rules, indexes and functions of their own, on
 * their own emulators: three commands.
 */
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { Firestore } from "@google-cloud/firestore";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findChromium } from "../../testkit/chromium.ts";
import { CLI } from "../../testkit/cli.ts";
import { PROJECT, startFirebase } from "../../testkit/emulators/firebase.ts";
import { freePort } from "../../testkit/emulators/project.ts";
import { emulatorEnvironment } from "../../testkit/emulators/requirements.ts";
import { until } from "../../testkit/until.ts";
import { type Ports, serverApp, viteApp } from "./setupApps.ts";

const run = promisify(execFile);
const MINUTE = 60_000;
let packages: string;

beforeAll(async () => {
  packages = mkdtempSync(join(tmpdir(), "tally-packages-"));
  await run("npm", ["pack", "--workspace", "client", "--workspace", "functions", "--pack-destination", packages]);
});
afterAll(() => rmSync(packages, { recursive: true, force: true }));

/** An app in a folder of its own, with free ports for its emulators. */
async function createApp(filesOf: (ports: Ports) => Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "tally-app-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const names = ["auth", "firestore", "functions", "tasks", "hub", "logging", "eventarc"] as const;
  const ports = {} as Record<keyof Ports, number>;
  for (const name of names) ports[name] = await freePort();
  for (const [path, text] of Object.entries(filesOf(ports))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // Its own functions are those of someone who has installed their packages.
  symlinkSync(resolve("node_modules"), join(folder, "functions/node_modules"));
  const inFolder = async (program: string, ...args: string[]) => {
    const { stdout, stderr } = await run(program, args, { cwd: folder, env: { ...process.env, NO_COLOR: "1" } });
    return stdout + stderr;
  };
  return {
    folder,
    ports,
    run: inFolder,
    tally: (...args: string[]) => inFolder(process.execPath, CLI, ...args),
  };
}

type App = Awaited<ReturnType<typeof createApp>>;

/** The three commands. @param edit  changes the app after the first one. @returns the milliseconds that they took */
async function install(app: App, edit?: (app: App) => void): Promise<number> {
  const start = performance.now();
  const printed = await app.tally("init", "--yes", "--location", "nam5", "--packages", packages);
  edit?.(app);
  const [, next = ""] = /Run next:\s+(.+)\n/.exec(printed) ?? [];
  const commands = next.split(" && ").map((command) => command.split(" "));
  const last = commands.pop();
  expect(last?.slice(0, 3)).toEqual(["npx", "firebase-tools", "emulators:start"]);
  for (const [program = "", ...args] of commands) await app.run(program, ...args);
  const scratch = mkdtempSync(join(tmpdir(), "tally-scratch-"));
  const log = join(scratch, "emulators.log");
  const only = ["auth", "firestore", "functions", "tasks"];
  const firebase = await startFirebase(app.folder, log, emulatorEnvironment(scratch), only);
  onTestFinished(async () => {
    await firebase.stop();
    rmSync(scratch, { recursive: true, force: true });
  });
  return performance.now() - start;
}

function letUsersRead({ folder }: App): void {
  const path = join(folder, "firestore.rules");
  const rules = readFileSync(path, "utf8");
  const closed = rules.replace(/(?<=function mayReadCounter\(\) \{\s+return )true/, "request.auth != null");
  expect(closed).not.toBe(rules);
  writeFileSync(path, closed);
}

/** Waits until the published totals are these. */
async function expectTotals({ ports }: App, totals: Record<string, number>): Promise<void> {
  const db = new Firestore({ projectId: PROJECT, host: `127.0.0.1:${ports.firestore}`, ssl: false });
  onTestFinished(() => db.terminate());
  for (const [id, total] of Object.entries(totals))
    await until(async () => (await db.doc(`counters/${id}`).get()).get("total") === total, `${id} to be ${total}`);
}

/** Opens the app's page, looks at the view, and likes as one user after the other. */
async function useInBrowser(app: App, url: string): Promise<void> {
  const browser = await chromium.launch(await findChromium());
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByText("1 views").waitFor();
  await page.getByRole("button", { name: "♡ 0" }).click();
  await page.getByRole("button", { name: "♥ 1" }).waitFor();
  await expectTotals(app, { "likes:42": 1 });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "♡" }).click();
  await page.getByRole("button", { name: "♥ 2" }).waitFor();
}

/** Starts the app's own server, which prints its address. */
async function serve(app: App): Promise<string> {
  const port = await freePort();
  const server = spawn("npm", ["run", "preview", "--", "--port", `${port}`], { cwd: app.folder, detached: true });
  onTestFinished(() => void process.kill(-(server.pid as number)));
  const url = `http://localhost:${port}`;
  await until(
    () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      ),
    url,
  );
  return url;
}

test("a view and a like are counted in a browser after three commands, in less than five minutes", async () => {
  const app = await createApp(viteApp);
  const start = performance.now();
  const took = await install(app, letUsersRead);
  await app.run("npm", "run", "build");
  await useInBrowser(app, await serve(app));
  await expectTotals(app, { "views:home": 1, "likes:42": 2 });
  const all = performance.now() - start;
  console.log(
    `${Math.round(took / 1_000)} s for the three commands, ${Math.round(all / 1_000)} s until both are counted`,
  );
  expect(all).toBeLessThan(5 * MINUTE);
});

test("a server counts a view and a like, and the app's own function goes on", async () => {
  const app = await createApp(serverApp);
  await install(app);
  const { ports, folder } = app;
  const env = { ...process.env, FIRESTORE_EMULATOR_HOST: `127.0.0.1:${ports.firestore}`, GCLOUD_PROJECT: PROJECT };
  await run("node", ["main.js"], { cwd: folder, env });
  await expectTotals(app, { "views:home": 1, "likes:42": 1 });
  const db = new Firestore({ projectId: PROJECT, host: env.FIRESTORE_EMULATOR_HOST, ssl: false });
  await db.doc("posts/a").set({});
  await until(async () => (await db.doc("posts/a").get()).get("title") === "A", "the app's own function");
  await db.terminate();
});
