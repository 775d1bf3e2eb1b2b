/** Errors in the functions' log. */
import { logger } from "firebase-functions";

/**
 * Logs an error with a constant message, so that it can be searched for; the details are in the data. Not by `logger.error`,
 * which puts a stack trace into the message and omits the message of an error among the data.
 */
export function logError(message: string, data: { readonly [name: string]: unknown }): void {
  const { error } = data;
  logger.write({ severity: "ERROR", message, ...data, ...(error !== undefined && { error: String(error) }) });
}
