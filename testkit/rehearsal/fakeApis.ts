/** All of Google's APIs that a deployment calls: a request in, a status and a body out. */

import type { Cloud } from "./cloud.ts";
import { ApiError, type Body, type Route, route } from "./routes.ts";
import { artifactRegistry } from "./services/artifactRegistry.ts";
import { cloudFunctions } from "./services/cloudFunctions.ts";
import { cloudRun } from "./services/cloudRun.ts";
import { cloudScheduler } from "./services/cloudScheduler.ts";
import { cloudTasks } from "./services/cloudTasks.ts";
import { firestore } from "./services/firestore.ts";
import { iam } from "./services/iam.ts";
import { project } from "./services/project.ts";
import { pubsub } from "./services/pubsub.ts";
import { securityRules } from "./services/securityRules.ts";
import { serviceUsage } from "./services/serviceUsage.ts";

export interface ApiRequest {
  readonly method: string;
  readonly host: string;
  /** With its query. */
  readonly url: string;
  readonly bytes: Uint8Array;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Body;
}

const SERVICES = [
  ...[project, iam, serviceUsage, firestore, securityRules, cloudFunctions, cloudRun, cloudTasks, cloudScheduler],
  ...[pubsub, artifactRegistry],
];

/** @returns the APIs of a project. A function: no network, no time. */
export function fakeApis(cloud: Cloud): (request: ApiRequest) => ApiAnswer {
  const routes: readonly Route[] = [
    ...SERVICES.flatMap((service) => service(cloud)),
    ...["v1", "v1beta1", "v2"].map((version) =>
      route("GET", "*", `/${version}/{name=**}`, ({ name }) => {
        const found = cloud.operations.get(name);
        if (!found) throw new NoRoute();
        return found;
      }),
    ),
  ];
  const failures = new Map<object, number>();

  function handle({ method, host, url, bytes }: ApiRequest, body: Body): unknown {
    const { pathname, searchParams } = new URL(url, `https://${host}`);
    const path = decodeURIComponent(pathname);
    const called = `${method} ${host}${path}`;
    for (const failure of cloud.scenario.failures) {
      const times = failures.get(failure) ?? 0;
      if (!failure.match.test(called) || times >= (failure.times ?? Number.POSITIVE_INFINITY)) continue;
      failures.set(failure, times + 1);
      throw new ApiError(failure.status, failure.message);
    }
    const found = routes.find(
      (one) => one.method === method && (one.host === host || one.host === "*") && one.path.test(path),
    );
    if (!found) throw new NoRoute();
    return found.handle({ ...found.path.exec(path)?.groups, query: searchParams, body, bytes });
  }

  return (request) => {
    try {
      return { status: 200, body: handle(request, parse(request.bytes)) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.code, body: error };
    }
  };
}

/** The same, for a deployment: what it asks is recorded. */
export function recordedApis(cloud: Cloud): (request: ApiRequest) => ApiAnswer {
  const answer = fakeApis(cloud);
  return (request) => {
    const { method, host, url } = request;
    const { status, body } = answer(request);
    const path = decodeURIComponent(new URL(url, `https://${host}`).pathname);
    if (body instanceof NoRoute) cloud.problems.add(`the rehearsal has no answer to ${method} ${host}${path}`);
    const error = body instanceof ApiError ? body.message : undefined;
    cloud.requests.push({ method, host, path, status, error });
    return { status, body };
  };
}

/** An API that the rehearsal does not know. */
class NoRoute extends ApiError {
  constructor() {
    super(404, "The rehearsal has no answer to this.");
  }
}

/** The body of a request; `undefined` if it is not JSON. */
function parse(bytes: Uint8Array): Body {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
