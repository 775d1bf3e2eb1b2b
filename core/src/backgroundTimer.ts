/** A timer for what matters only while the process lives on: it does not keep a Node process from ending. */
export function setBackgroundTimer(run: () => void, milliseconds: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, milliseconds);
  // In a browser a timer is a number.
  (timer as { unref?(): void }).unref?.();
  return timer;
}
