/** The traffic that this page sends, from a worker. There is one for the page, and it continues in every view. */
import type { Connection } from "../firebase/connection.ts";
import type { TrafficCommand, TrafficReport } from "./messages.ts";

/** Traffic costs money, so a forgotten tab stops. */
export const MAX_DURATION_MS = 180_000;

/** The time over which rates are averaged. */
const AVERAGE_MS = 3_000;

export interface Traffic {
  /** The requested increments per second; 0 if nothing is sent. */
  readonly perSecond: number;
  /** Acknowledged increments per second, averaged. */
  readonly achieved: number;
  readonly inFlight: number;
  readonly failed: number;
  /** Increments per second that `npm start` is asked for, averaged. Whether they arrive, only the counter tells. */
  readonly helpRequested: number;
  /** Why the traffic ended, unless the visitor stopped it. */
  readonly endReason?: string;
}

/** @param acknowledged  when increments were acknowledged since the last call */
export type Listener = (traffic: Traffic, acknowledged: readonly number[]) => void;

const NO_TRAFFIC: Traffic = { perSecond: 0, achieved: 0, inFlight: 0, failed: 0, helpRequested: 0 };

let traffic = NO_TRAFFIC;
let worker: Worker | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let recent: (TrafficReport & { readonly at: number })[] = [];
const listeners = new Set<Listener>();

export function currentTraffic(): Traffic {
  return traffic;
}

/** Calls `listener` on each change. @returns a function that ends it */
export function onTraffic(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Starts the traffic, or changes its rate. */
export function sendTraffic(connection: Connection, perSecond: number): void {
  if (traffic.perSecond === 0) {
    timer = setTimeout(() => stopTraffic(`Stopped after ${MAX_DURATION_MS / 60_000} minutes.`), MAX_DURATION_MS);
    update({ ...NO_TRAFFIC, inFlight: traffic.inFlight, perSecond });
  } else {
    update({ ...traffic, perSecond });
  }
  worker ??= startWorker();
  worker.postMessage({ setup: connection.setup, perSecond } satisfies TrafficCommand);
}

/** @param endReason  unless the visitor stopped it */
export function stopTraffic(endReason?: string): void {
  clearTimeout(timer);
  worker?.postMessage({ perSecond: 0 } satisfies TrafficCommand);
  update({ ...traffic, perSecond: 0, ...(endReason && { endReason }) });
}

function startWorker(): Worker {
  const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  started.onmessage = ({ data }: MessageEvent<TrafficReport>) => {
    const now = Date.now();
    recent = [...recent, { ...data, at: now }].filter(({ at }) => at > now - AVERAGE_MS);
    const perSecond = (count: (report: TrafficReport) => number) =>
      recent.reduce((sum, one) => sum + count(one), 0) / (AVERAGE_MS / 1_000);
    const report = {
      achieved: perSecond(({ acknowledged }) => acknowledged.length),
      inFlight: data.inFlight,
      failed: traffic.failed + data.failed,
      helpRequested: perSecond(({ helpRequested }) => helpRequested),
    };
    update({ ...traffic, ...report }, data.acknowledged);
  };
  // The script may fail to load: offline, or from a page older than the deployment.
  started.onerror = () => {
    started.terminate();
    worker = undefined;
    stopTraffic("The code that sends traffic could not be loaded. Check your connection, or reload the page.");
  };
  return started;
}

function update(next: Traffic, acknowledged: readonly number[] = []): void {
  traffic = next;
  for (const listener of listeners) listener(next, acknowledged);
}
