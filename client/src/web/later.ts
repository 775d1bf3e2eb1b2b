/** Calls back after some time, unless the process ends before: the timer does not keep Node.js running. */
export function later(call: () => void, millis: number): void {
  const timer = setTimeout(call, millis) as { unref?(): void } | number;
  if (typeof timer === "object") timer.unref?.();
}
