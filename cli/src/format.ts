/** Numbers, ages and money for people. */

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const dollar = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });

/** `1,234.5`: up to two decimals. */
export function formatNumber(number: number): string {
  return short.format(number);
}

/** `1,235`: rounded. */
export function formatWhole(number: number): string {
  return whole.format(number);
}

/** `$1,234.50` */
export function formatDollars(amount: number): string {
  return dollar.format(amount);
}

/** `+3`, `-1`, `0` */
export function formatSigned(number: number): string {
  return `${number > 0 ? "+" : ""}${short.format(number)}`;
}

/** `1 counter`, `2 counters`, `0.5 counters` */
export function pluralize(number: number, noun: string): string {
  return `${short.format(number)} ${noun}${number === 1 ? "" : "s"}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** `0.4 s`, `37 s`, `5 minutes`, `2 days` */
export function formatDuration(millis: number): string {
  const past = Math.max(millis, 0);
  for (const [unit, length] of UNITS) if (past >= 2 * length) return pluralize(Math.floor(past / length), unit);
  return past < 10_000 ? `${(past / 1_000).toFixed(1)} s` : `${Math.round(past / 1_000)} s`;
}
