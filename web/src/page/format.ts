/** Numbers as the page writes them. */

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export function formatWhole(n: number): string {
  return whole.format(n);
}

/** Per second: small ones with a decimal. */
export function formatRate(perSecond: number): string {
  return perSecond >= 0.05 && perSecond < 9.95 ? tenths.format(perSecond) : whole.format(perSecond);
}

/** Totals may be fractions. */
export function formatTotal(total: number): string {
  return total.toLocaleString("en", { maximumFractionDigits: 2 });
}

export function formatSeconds(millis: number): string {
  return `${tenths.format(Math.max(millis, 0) / 1_000)} s`;
}

/** A duration since something, coarse: what is long ago need not be exact. */
export function formatAge(millis: number): string {
  const seconds = Math.max(Math.round(millis / 1_000), 0);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Cents, and two significant digits of what is less than a dollar. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "< $0.0001";
  const digits = dollars >= 1 ? 2 : 1 - Math.floor(Math.log10(dollars));
  return `$${dollars.toFixed(digits)}`;
}
