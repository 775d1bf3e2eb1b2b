/** Errors in the functions' log. */
import { logger } from "firebase-functions";

/**
 * Logs an error whose message is the same each time, so that it can be searched for; what went wrong is in the data. Not
 * by `logger.error`: that puts a stack trace into the message, and leaves out the message of an error among the data.
 */
export function logError(message: string, data: { readonly [name: string]: unknown }): void {
  const { error } = data;
  logger.write({ severity: "ERROR", message, ...data, ...(error !== undefined && { error: String(error) }) });
}
