/** The server's time, to the second, as Hosting tells it: ages and windows do not depend on the clock of this device. */

let ahead = 0;

/** In milliseconds since the epoch. */
export function serverTime(): number {
  return Date.now() + ahead;
}

/** Learns it from the header of an answer. Without an answer the device's clock decides. Never rejects. */
export async function learnServerTime(): Promise<void> {
  const sentAt = Date.now();
  const response = await fetch("/icon.svg", { method: "HEAD", cache: "no-store" }).catch(() => undefined);
  const date = Date.parse(response?.headers.get("date") ?? "");
  if (Number.isNaN(date)) return;
  // A cache on the way tells how old the date is: https://www.rfc-editor.org/rfc/rfc9111#section-5.1
  const age = Number(response?.headers.get("age") ?? 0) * 1_000;
  const difference = date + age + 500 - (sentAt + Date.now()) / 2;
  // The header has whole seconds, so a smaller difference may be none.
  ahead = Math.abs(difference) > 2_000 ? difference : 0;
}
