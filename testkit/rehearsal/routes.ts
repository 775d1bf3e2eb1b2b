/**
 * How a request finds its answer: routes in the notation of Google's own definitions (https://google.aip.dev/127), errors in the shape
 * of Google's (https://google.aip.dev/193).
 */
import type { Cloud } from "./cloud.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of many APIs; what a route needs of one, it reads
export type Body = any;

/** The names in braces of a path: `project` and `id` of `/v1/{project}/topics/{id=*}`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Part}}${infer Rest}`
  ? (Part extends `${infer Name}=${string}` ? Name : Part) | NamesIn<Rest>
  : never;

interface RequestParts {
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly bytes: Uint8Array;
}

/** A request, and what the names in the route's path stand for. */
export type ApiCall<Path extends string = ""> = RequestParts & Readonly<Record<NamesIn<Path>, string>>;

export interface Route {
  readonly method: string;
  readonly host: string;
  readonly path: RegExp;
  handle(call: ApiCall): unknown;
}

/** The routes of a service. */
export type Service = (cloud: Cloud) => Route[];

// The path is such as `/v2/{name=projects/*/locations/*/functions/*}`: a star is a segment, two are any number of segments.
export function route<const Path extends string>(
  method: string,
  host: string,
  path: Path,
  handle: (call: ApiCall<Path>) => unknown,
): Route {
  const segments = (text: string) =>
    text.replace(/[.()]/g, "\\$&").replace(/\*\*|\*/g, (stars) => (stars === "**" ? ".+" : "[^/:]+"));
  const pattern = path
    .split(/(\{[^}]+\})/)
    .map((part) => {
      const [, name, value = "*"] = /^\{(\w+)=?(.*)\}$/.exec(part) ?? [];
      return name === undefined ? segments(part) : `(?<${name}>${segments(value || "*")})`;
    })
    .join("");
  return { method, host, path: new RegExp(`^${pattern}$`), handle };
}

/** Of codes that several statuses have, the one that these APIs use. */
const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
};

/** What Google is known to answer. */
export class ApiError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }

  toJSON(): object {
    const { code, message } = this;
    return { error: { code, message, status: STATUSES[code] ?? "UNKNOWN" } };
  }
}

export function notFound(what = "Requested entity"): ApiError {
  return new ApiError(404, `${what} was not found.`);
}

/** @throws ApiError 404 if there is no resource of that name */
export function existing<T>(resources: ReadonlyMap<string, T>, name: string, what?: string): T {
  const found = resources.get(name);
  if (found === undefined) throw notFound(what);
  return found;
}

/** A long-running operation that has ended (https://google.aip.dev/151): delays are not part of a rehearsal. */
export function operation(cloud: Cloud, name: string, response: object = {}): object {
  const ended = { name, done: true, response };
  cloud.operations.set(name, ended);
  return ended;
}
