/** Calls a callback of the app. Its exception becomes an unhandled rejection, so that the other callbacks still run. */
export function callSafely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    Promise.reject(error);
  }
}
