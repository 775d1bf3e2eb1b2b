/** Parses the values of options and arguments. A value that is not accepted is wrong usage, and the error says what is. */
import { InvalidArgumentError } from "commander";

/** A finite number; `1,000` and `1_000` are 1000. */
export function parseNumber(text: string): number {
  const value = Number(text.replaceAll(/(?<=\d)[_,](?=\d{3})/g, ""));
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("Pass a number.");
  return value;
}

/** A number from 0 on. */
export function parseAmount(text: string): number {
  return inRange(parseNumber(text), 0, Number.POSITIVE_INFINITY, "a number, 0 or more");
}

/** A whole number from 1 on. */
export function parseCount(text: string): number {
  const value = inRange(parseNumber(text), 1, Number.MAX_SAFE_INTEGER, "a whole number from 1 on");
  if (!Number.isInteger(value)) throw new InvalidArgumentError("Pass a whole number from 1 on.");
  return value;
}

/** A share such as `0.3` or `30%`. @returns from 0 to 1 */
export function parseShare(text: string): number {
  const value = text.endsWith("%") ? parseNumber(text.slice(0, -1)) / 100 : parseNumber(text);
  return inRange(value, 0, 1, "a share from 0 to 1, or 0% to 100%");
}

/** Hours of a day. */
export function parseHours(text: string): number {
  return inRange(parseNumber(text), 0.1, 24, "hours of a day, 0.1 to 24");
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How often counters are reconciled: a duration such as `15m`, `24h`, `7d`, as `setCounterSource` accepts it. @returns milliseconds */
export function parseInterval(text: string): number {
  const [, value = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (!value) throw new InvalidArgumentError("Pass a duration such as 15m, 24h or 7d.");
  return inRange(Number(value) * (UNITS[unit] as number), 300_000, 366 * 86_400_000, "a duration from 5m to 366d");
}

/** `host:port` */
export function parseAddress(text: string): string {
  if (!/^[^\s/:]+:\d{1,5}$|^\[[^\]]+\]:\d{1,5}$/.test(text)) {
    throw new InvalidArgumentError("Pass host:port such as 127.0.0.1:8080, or put --emulator last to use the default.");
  }
  return text;
}

function inRange(value: number, from: number, to: number, accepted: string): number {
  if (!(value >= from && value <= to)) throw new InvalidArgumentError(`Pass ${accepted}.`);
  return value;
}
