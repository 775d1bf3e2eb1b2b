/** An error of Tally with its code. The class `CounterError` would take a tenth of the beacon's size. */
export const failure = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });
