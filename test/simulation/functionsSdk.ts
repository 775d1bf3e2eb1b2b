/** Replaces `firebase-functions` and the parts of `firebase-admin` that are not simulated. */

type LogLine = (message: string, data?: unknown) => void;
let sink: LogLine = () => {};

export function logTo(newSink: LogLine): void {
  sink = newSink;
}

export const logger = {
  info: (message: string, data?: unknown) => sink(message, data),
  warn: (message: string, data?: unknown) => sink(message, data),
  error: (message: string, data?: unknown) => sink(message, data),
  write: ({ message, ...data }: { message: string }) => sink(message, data),
};

function notSimulated(): never {
  throw new Error("is not simulated");
}

export const getApp = notSimulated;
export const getApps = notSimulated;
export const initializeApp = notSimulated;
export const getEventarc = notSimulated;
