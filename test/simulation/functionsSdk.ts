/** Stands for `firebase-functions`, of which the steps of the backend use the log; and for what parameters and an alarm use. */

type Line = (message: string, data?: unknown) => void;
let sink: Line = () => {};

export function logTo(line: Line): void {
  sink = line;
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

/** A world has its configuration from its scenario, not from parameters. */
export const defineInt = (name: string) => ({ name, value: notSimulated });
export const defineString = defineInt;
