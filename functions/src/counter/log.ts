/** Errors in the functions' log. */
import { logger } from "firebase-functions/logger";

/** Logs a constant message that can be searched for. `logger.error` would add a stack trace to it, and omit `error`. */
export function logError(message: string, data: { readonly [name: string]: unknown }): void {
  const { error } = data;
  logger.write({ severity: "ERROR", message, ...data, ...(error !== undefined && { error: String(error) }) });
}
