import type { Millis } from "../counter/time.ts";

/** Thrown by a handler of HTTP requests to answer with this status, message and headers. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Refusal["headers"] = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** 429, with the time to wait. */
export function tooMany(reason: string, wait: Millis): Refusal {
  const seconds = Math.ceil(wait / 1_000);
  return new Refusal(429, `${reason}; send again after ${seconds} s`, { "retry-after": String(seconds) });
}
