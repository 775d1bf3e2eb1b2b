/**
 * The traffic that this page sends, by a worker. One for the page, whatever view is shown: it goes on beside the dashboard.
 */
import type { Backend } from "../firebase/backend.ts";
import type { Order, Report } from "./messages.ts";

/** Traffic costs money, so that nobody's forgotten tab goes on for ever. */
export const LONGEST_MS = 180_000;

/** Over how long the achieved rate is taken, and for how long who has asked for help says so. */
const AVERAGE_MS = 3_000;

export interface Traffic {
  /** What is asked for; 0 when nothing is sent. */
  readonly perSecond: number;
  /** Acknowledged increments per second, lately. */
  readonly achieved: number;
  readonly underWay: number;
  readonly failed: number;
  /** Whether `npm start` was asked, lately, for what this browser could not send. */
  readonly isHelped: boolean;
  /** Why nothing is sent any more, if not because somebody said so. */
  readonly ended?: string;
}

/** @param acknowledged  when increments were, since the last time */
export type Listener = (traffic: Traffic, acknowledged: readonly number[]) => void;

const NO_TRAFFIC: Traffic = { perSecond: 0, achieved: 0, underWay: 0, failed: 0, isHelped: false };

let traffic = NO_TRAFFIC;
let worker: Worker | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let recent: number[] = [];
let askedAt = 0;
const listeners = new Set<Listener>();

export function trafficNow(): Traffic {
  return traffic;
}

/** Calls `listener` whenever something changes. @returns a function that ends it */
export function onTraffic(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Starts, or changes the rate. */
export function sendTraffic(backend: Backend, perSecond: number): void {
  if (traffic.perSecond === 0) {
    timer = setTimeout(() => stopTraffic(`Stopped after ${LONGEST_MS / 60_000} minutes.`), LONGEST_MS);
    change({ ...NO_TRAFFIC, underWay: traffic.underWay, perSecond });
  } else {
    change({ ...traffic, perSecond });
  }
  worker ??= openWorker();
  worker.postMessage({ setup: backend.setup, perSecond } satisfies Order);
}

/** @param ended  why, if nobody said so */
export function stopTraffic(ended?: string): void {
  clearTimeout(timer);
  worker?.postMessage({ perSecond: 0 } satisfies Order);
  change({ ...traffic, perSecond: 0, ...(ended && { ended }) });
}

function openWorker(): Worker {
  const opened = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  opened.onmessage = ({ data }: MessageEvent<Report>) => {
    const since = Date.now() - AVERAGE_MS;
    if (data.hasAsked) askedAt = Date.now();
    recent = [...recent, ...data.acknowledged].filter((at) => at > since);
    const report = {
      achieved: recent.length / (AVERAGE_MS / 1_000),
      underWay: data.underWay,
      failed: traffic.failed + data.failed,
      isHelped: askedAt > since,
    };
    change({ ...traffic, ...report }, data.acknowledged);
  };
  // Its script may not come: offline, or of a page older than what is deployed.
  opened.onerror = () => {
    opened.terminate();
    worker = undefined;
    stopTraffic("What sends the traffic could not be loaded. Are you online?");
  };
  return opened;
}

function change(next: Traffic, acknowledged: readonly number[] = []): void {
  traffic = next;
  for (const listener of listeners) listener(next, acknowledged);
}
