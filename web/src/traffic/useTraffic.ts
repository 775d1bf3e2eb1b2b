/** Starts and stops the worker that sends increments, and says what it achieves. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Backend } from "../firebase/backend.ts";
import type { Order, Report } from "./messages.ts";

/** Traffic costs money, so that nobody's forgotten tab goes on for ever. */
export const LONGEST_MS = 180_000;

/** Over how long the achieved rate is taken. */
const AVERAGE_MS = 3_000;

interface Sent {
  /** Acknowledged increments per second, lately. */
  readonly achieved: number;
  readonly underWay: number;
  readonly failed: number;
  /** What this browser could not send and has asked of `npm start`. */
  readonly asked: number;
  /** Why nothing can be sent. */
  readonly failure: string | undefined;
}

const NOTHING_SENT: Sent = { achieved: 0, underWay: 0, failed: 0, asked: 0, failure: undefined };

export interface Traffic extends Sent {
  readonly running: boolean;
  start(perSecond: number): void;
  stop(): void;
}

/** @param told  of acknowledged increments, by when they were */
export function useTraffic(backend: Backend, told: (at: readonly number[]) => void): Traffic {
  const worker = useRef<Worker | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const recent = useRef<number[]>([]);
  const [running, setRunning] = useState(false);
  const [state, setState] = useState<Sent>(NOTHING_SENT);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      worker.current?.terminate();
    },
    [],
  );

  const order = (perSecond: number) => {
    if (!worker.current) {
      worker.current = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
      // Its script may not come: offline, or of a page older than what is deployed.
      worker.current.onerror = () => {
        worker.current = undefined;
        stop();
        setState((state) => ({ ...state, failure: "What sends the traffic could not be loaded." }));
      };
      worker.current.onmessage = ({ data }: MessageEvent<Report>) => {
        told(data.acknowledged);
        const now = Date.now();
        recent.current = [...recent.current, ...data.acknowledged].filter((at) => at > now - AVERAGE_MS);
        const achieved = recent.current.length / (AVERAGE_MS / 1_000);
        setState(({ failed, asked }) => ({
          achieved,
          underWay: data.underWay,
          failed: failed + data.failed,
          asked: asked + data.asked,
          failure: undefined,
        }));
      };
    }
    worker.current.postMessage({ setup: backend.setup, perSecond } satisfies Order);
  };
  const stop = () => {
    clearTimeout(timer.current);
    setRunning(false);
    if (worker.current) order(0);
  };
  const start = (perSecond: number) => {
    if (!running) {
      clearTimeout(timer.current);
      timer.current = setTimeout(stop, LONGEST_MS);
      setRunning(true);
    }
    order(perSecond);
  };
  return { running, ...state, start, stop };
}
