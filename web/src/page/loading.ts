/**
 * Loads the code of views, and the connection that all of them share. Each failure is forgotten, so that the next call tries again.
 * Once a view is shown the others are loaded, so that they are there when the network is not.
 */
import type { Connection } from "../firebase/connection.ts";
import { loadFirebaseSetup } from "../firebase/firebaseSetup.ts";
import { loadModule } from "./loadModule.ts";
import type { Route } from "./route.ts";
import { learnServerTime } from "./serverTime.ts";

const views = {
  demo: async () => (await loadModule("Demo", () => import("../demo/Demo.tsx"))).Demo,
  dashboard: async () => (await loadModule("Dashboard", () => import("../dashboard/Dashboard.tsx"))).Dashboard,
  counter: async () => (await loadModule("CounterPage", () => import("../dashboard/CounterPage.tsx"))).CounterPage,
  unknown: async () => (await loadModule("NoSuchPage", () => import("./NoSuchPage.tsx"))).NoSuchPage,
} satisfies Record<Route["view"], () => Promise<unknown>>;

/** @throws Error if it cannot be fetched */
export function loadView(view: Route["view"]) {
  return views[view]();
}

/** What the frame of the page shows beside the view. */
export interface Frame {
  readonly connection: Connection;
  readonly Account: typeof import("../account/Account.tsx").Account;
}

let connected: Promise<Frame> | undefined;

/** @throws Error if the page is not served by Firebase Hosting, or there is no connection */
export function connect(): Promise<Frame> {
  connected ??= openFrame();
  connected.catch(() => {
    connected = undefined;
  });
  return connected;
}

async function openFrame(): Promise<Frame> {
  const [setup, { openConnection }, { Account }] = await Promise.all([
    loadFirebaseSetup(),
    loadModule("connection", () => import("../firebase/connection.ts")),
    loadModule("Account", () => import("../account/Account.tsx")),
    learnServerTime(),
  ]);
  return { connection: openConnection(setup), Account };
}

/** The time that the first view has for its own requests. */
const PRELOAD_DELAY_MS = 1_500;

let isPreloading = false;

export function preloadViews(): void {
  if (isPreloading) return;
  isPreloading = true;
  setTimeout(async () => {
    const loaded = await Promise.allSettled(Object.values(views).map((load) => load()));
    // The next view that is shown tries again.
    isPreloading = loaded.every(({ status }) => status === "fulfilled");
  }, PRELOAD_DELAY_MS);
}
