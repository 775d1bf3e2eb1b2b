/** How figures are written in documents. */
import { formatWhole } from "../../cli/src/format.ts";

/** What takes for ever is "never". */
export function seconds(millis: number, digits = 1): string {
  if (!Number.isFinite(millis)) return "never";
  return millis < 100_000 ? `${fixed(millis / 1_000, digits)} s` : `${formatWhole(millis / 60_000)} min`;
}

export function fixed(number: number, digits: number): string {
  return number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
