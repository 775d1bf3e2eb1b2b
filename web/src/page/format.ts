/** Numbers and ages as the page shows them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function formatWhole(n: number): string {
  return whole.format(n);
}

/** `1 counter`, `2 counters` */
export function pluralize(n: number, noun: string): string {
  return `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** Per second, with a decimal below 10. */
export function formatRate(perSecond: number): string {
  return perSecond >= 0.05 && perSecond < 9.95 ? tenths.format(perSecond) : whole.format(perSecond);
}

/** Totals may be fractions, and sums of fractions inexact: what is rounded to 0 has no sign. */
export function formatTotal(total: number): string {
  return total.toLocaleString("en", { maximumFractionDigits: 2, signDisplay: "negative" });
}

export function formatSeconds(millis: number): string {
  return `${tenths.format(Math.max(millis, 0) / 1_000)} s`;
}

/** An age in one unit, rounded down. */
export function formatAge(millis: number): string {
  const seconds = Math.max(Math.round(millis / 1_000), 0);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Cents; two significant digits below a dollar. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "< $0.0001";
  const digits = dollars >= 1 ? 2 : 1 - Math.floor(Math.log10(dollars));
  return `$${dollars.toFixed(digits)}`;
}
