/**
 * Google's REST APIs, read with the application-default credentials. Nothing is written: the only POST requests are
 * `getIamPolicy`, which is one by its definition.
 */
import { CommandError, FAILED } from "../commandError.ts";
import { escapeControls } from "../escape.ts";

/** For the tests: a server that answers in the place of all hosts, at `<address>/<host>/<path>`. Undocumented. */
export function standIn(): string | undefined {
  return process.env.TALLY_GOOGLE_APIS || undefined;
}

class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface GoogleApis {
  /** @throws ApiError */
  get<Answer>(host: string, path: string, query?: Readonly<Record<string, string>>): Promise<Answer>;
  /** `undefined` if there is no such resource. @throws ApiError */
  find<Answer>(host: string, path: string): Promise<Answer | undefined>;
  /** All pages of a list. @throws ApiError */
  list<Item>(host: string, path: string, field: string, query?: Readonly<Record<string, string>>): Promise<Item[]>;
  /** The policy of a resource. @throws ApiError */
  policy(host: string, resource: string, method?: "GET" | "POST"): Promise<Policy>;
}

/** https://cloud.google.com/iam/docs/reference/rest/v1/Policy */
export interface Policy {
  readonly bindings?: readonly { readonly role: string; readonly members?: readonly string[] }[];
}

/** A server that does not answer, such as one behind a firewall, must not stop a build. */
const TIMEOUT_MS = 20_000;

/** @throws an error of the Admin SDK without credentials */
export async function connectApis(project: string): Promise<GoogleApis> {
  const base = standIn();
  const token = base ? "stand-in" : await accessToken();

  async function send(method: "GET" | "POST", host: string, path: string, query: Record<string, string> = {}) {
    const url = new URL(`${base ? `${base}/${host}` : `https://${host}`}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    // Some APIs demand that a user's own credentials name a project for quotas; service accounts may lack the right to name one.
    const quotas: Record<string, string>[] = [{ "x-goog-user-project": project }, {}];
    let failure: ApiError | undefined;
    for (const quota of quotas) {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, ...quota },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text || "{}");
      failure = new ApiError(response.status, `${host}: ${messageIn(text) ?? response.statusText}`);
      if (response.status !== 403) break;
    }
    throw failure;
  }

  const apis: GoogleApis = {
    get: (host, path, query) => send("GET", host, path, query),
    async find(host, path) {
      try {
        return await send("GET", host, path);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async list<Item>(host: string, path: string, field: string, query: Readonly<Record<string, string>> = {}) {
      const items: Item[] = [];
      for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
        const page: Record<string, unknown> = await send("GET", host, path, {
          ...query,
          ...(pageToken && { pageToken }),
        });
        const { [field]: found = [], nextPageToken, unreachable = [] } = page as Record<string, never>;
        if ((unreachable as string[]).length > 0) {
          throw new ApiError(503, `${host}: no answer from ${(unreachable as string[]).join(", ")}`);
        }
        items.push(...(found as Item[]));
        pageToken = nextPageToken || undefined;
      }
      return items;
    },
    policy: (host, resource, method = "POST") => send(method, host, `${resource}:getIamPolicy`),
  };
  return apis;
}

async function accessToken(): Promise<string> {
  const { applicationDefault } = await import("firebase-admin/app");
  const { access_token } = await applicationDefault().getAccessToken();
  return access_token;
}

/** The message of an answer with an error (https://cloud.google.com/apis/design/errors#http_mapping). */
function messageIn(text: string): string | undefined {
  try {
    return escapeControls(String(JSON.parse(text).error?.message).split("\n")[0] ?? "");
  } catch {
    return undefined;
  }
}

/**
 * Why a fact could not be seen. Missing credentials end the command, since nothing could be seen.
 *
 * @param permission  what the call needs, to be named if it was refused
 */
export function reasonOf(error: unknown, permission?: string): string {
  if (error instanceof CommandError) throw error;
  if (permission && error instanceof ApiError && error.status === 403) {
    return `${error.message}; it needs ${permission}`;
  }
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${TIMEOUT_MS / 1_000} s`;
  const { message, cause } = error as Error;
  return message === "fetch failed"
    ? `cannot be reached: ${(cause as Error | undefined)?.message ?? message}`
    : message;
}

export function nothingSeen(): CommandError {
  return new CommandError(
    FAILED,
    'nothing could be seen; the account needs the role "Viewer" (roles/viewer), or check --project and --database',
  );
}
