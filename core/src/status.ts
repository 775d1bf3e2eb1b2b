/** The gRPC status codes of errors of Firestore's server SDK (google.rpc.Code). */

export const INVALID_ARGUMENT = 3;
export const DEADLINE_EXCEEDED = 4;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const FAILED_PRECONDITION = 9;
export const ABORTED = 10;
export const UNAVAILABLE = 14;

/** The status code of an error; `undefined` if it has none. */
export function codeOf(error: unknown): number | undefined {
  return (error as { code?: number }).code;
}

/** Whether a precondition failed: the document had changed, or did exist, or did not. */
export function isPreconditionFailure(error: unknown): boolean {
  return [FAILED_PRECONDITION, ALREADY_EXISTS, NOT_FOUND].includes(codeOf(error) ?? -1);
}
