/** Makes the pictures of the page in docs/page, against the emulators, with a real browser. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { serveHelpRequests } from "../demo/trafficHelper.ts";
import { findChromium } from "../testkit/chromium.ts";
import { client } from "../testkit/clients.ts";
import { RATES } from "../web/src/traffic/rates.ts";
import { type Recording, record, writeLoop } from "./recording.ts";

const origin = `http://${process.env.TALLY_HOSTING_HOST}`;
const folder = process.argv[2] ?? "docs/page";
const desktop = { viewport: { width: 1280, height: 800 } };
const mobile = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ ...(await findChromium()), args: ["--no-sandbox", "--disable-gpu"] });

/** They send what one browser cannot, as with `npm start`. */
const HELPERS = 12;
const stopHelp = serveHelpRequests(
  client(),
  Array.from({ length: HELPERS }, () => client()),
);

const page = await open("#/", { ...desktop, colorScheme: "light" });
await page.click("#like");
await page.click("#traffic");
await page.setViewportSize({ width: 960, height: 1_000 });
const recording: Recording = { light: [], dark: [] };
for (const [perSecond, seconds] of [
  [5, 12],
  [30, 14],
  [80, 16],
  [160, 16],
] as const) {
  await setRate(perSecond);
  await record(page, recording, seconds);
}
await page.setViewportSize(desktop.viewport);
await page.emulateMedia({ colorScheme: "light" });
for (const [perSecond, seconds] of [
  [40, 14],
  [140, 16],
] as const) {
  await setRate(perSecond);
  await sleep(seconds * 1_000);
}
await shoot(page, "demo");
await page.emulateMedia({ colorScheme: "dark" });
await sleep(700);
await shoot(page, "demo-dark");
const phone = await open("#/", { ...mobile, colorScheme: "dark" });
await sleep(9_000);
await shoot(phone, "phone");
await phone.context().close();
await page.click("#traffic");
stopHelp();

const flights = spawn("node", ["demo/flights.ts", "--once", "--flights", "5000"], { stdio: "inherit" });
const dashboard = await open("#/dashboard", { ...desktop, colorScheme: "light" });
await dashboard.fill("#search", "departures:");
await dashboard.locator("#search").blur();
await sleep(45_000);
await shoot(dashboard, "dashboard");
await browser.close();
flights.kill();
await writeLoop(recording.light, `${folder}/live.webp`);
await writeLoop(recording.dark, `${folder}/live-dark.webp`);
// The clients of the helpers stay connected.
process.exit();

async function setRate(perSecond: number): Promise<void> {
  await page.locator("#per-second").fill(String(RATES.indexOf(perSecond)));
}

async function open(path: string, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({ deviceScaleFactor: 1, ...options });
  const page = await context.newPage();
  await page.goto(`${origin}/${path}`);
  await page.waitForSelector("main[aria-busy=false]");
  return page;
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
