import type { Millis } from "../counter/time.ts";

/** Thrown by a handler of HTTP requests to answer with this status, message and headers. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What the answer tells beside the message. */
  readonly details: Readonly<Record<string, number>>;

  constructor(status: number, message: string, headers: Refusal["headers"] = {}, details: Refusal["details"] = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.details = details;
  }
}

/** 429, with the time to wait. */
export function tooMany(reason: string, wait: Millis): Refusal {
  const seconds = Math.ceil(wait / 1_000);
  return new Refusal(429, `${reason}; send again after ${seconds} s`, { "retry-after": String(seconds) });
}
