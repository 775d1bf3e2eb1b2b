/** An error of Tally with its code. The class `CounterError` would take a tenth of the beacon's size. */
export const failure = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });

/** Calls a callback of the app. What it throws stops nothing else, and is an unhandled rejection. */
export function call(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    Promise.reject(error);
  }
}
