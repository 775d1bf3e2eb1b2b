/** What the text of an option means. A value that cannot be meant is wrong usage, and says what is accepted. */
import { InvalidArgumentError } from "commander";

/** A finite number. */
export function number(text: string): number {
  const value = Number(text.replaceAll(/(?<=\d)[_,](?=\d{3})/g, ""));
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("Pass a number.");
  return value;
}

/** A number from 0 on. */
export function amount(text: string): number {
  return inRange(number(text), 0, Number.POSITIVE_INFINITY, "a number, 0 or more");
}

/** A whole number from 1 on. */
export function count(text: string): number {
  const value = inRange(number(text), 1, Number.MAX_SAFE_INTEGER, "a whole number from 1 on");
  if (!Number.isInteger(value)) throw new InvalidArgumentError("Pass a whole number from 1 on.");
  return value;
}

/** A share, as `0.3` or `30%`. @returns from 0 to 1 */
export function share(text: string): number {
  const value = text.endsWith("%") ? number(text.slice(0, -1)) / 100 : number(text);
  return inRange(value, 0, 1, "a share from 0 to 1, or 0% to 100%");
}

/** Hours of a day. */
export function hours(text: string): number {
  return inRange(number(text), 0.1, 24, "hours of a day, 0.1 to 24");
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A span such as `90s`, `15m`, `24h`, `7d`. @returns milliseconds */
export function span(text: string): number {
  const [, value = "", unit = ""] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (!value) throw new InvalidArgumentError("Pass a span such as 15m, 24h or 7d.");
  return Number(value) * (UNITS[unit] as number);
}

/** Where an emulator listens. */
export function address(text: string): string {
  if (!/^[^\s/:]+:\d{1,5}$|^\[[^\]]+\]:\d{1,5}$/.test(text)) {
    throw new InvalidArgumentError("Pass host:port such as 127.0.0.1:8080, or put --emulator last to use the default.");
  }
  return text;
}

function inRange(value: number, from: number, to: number, accepted: string): number {
  if (!(value >= from && value <= to)) throw new InvalidArgumentError(`Pass ${accepted}.`);
  return value;
}
