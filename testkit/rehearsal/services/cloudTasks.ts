/** Task queues (https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues). */

import { REGIONS } from "../../../functions/src/decisions.ts";
import { policyOf, type Queue } from "../cloud.ts";
import { ApiError, existing, route, type Service } from "../routes.ts";

const HOST = "cloudtasks.googleapis.com";
const QUEUE = "{name=projects/*/locations/*/queues/*}";

export const cloudTasks: Service = (cloud) => {
  const queueOf = (name: string) => existing(cloud.queues, name);
  const save = (queue: Queue) => {
    checkLimits(queue);
    cloud.queues.set(queue.name, queue);
    return queue;
  };
  return [
    route("GET", HOST, `/v2/${QUEUE}`, ({ name }) => queueOf(name)),
    route("POST", HOST, "/v2/projects/*/locations/{region}/queues", ({ region, body }) => {
      // https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations/list
      if (!REGIONS.includes(region)) throw new ApiError(400, `Location '${region}' is not a valid location.`);
      if (cloud.queues.has(body.name)) throw new ApiError(409, "Queue already exists");
      return save({ state: "RUNNING", ...body });
    }),
    route("PATCH", HOST, `/v2/${QUEUE}`, ({ name, body }) => save({ ...queueOf(name), ...body })),
    route("POST", HOST, `/v2/${QUEUE}:purge`, ({ name }) => queueOf(name)),
    route("GET", HOST, `/v2/${QUEUE}/tasks`, () => ({ tasks: [] })),
    route("POST", HOST, `/v2/${QUEUE}:getIamPolicy`, ({ name }) => policyOf(cloud, name)),
    route("POST", HOST, `/v2/${QUEUE}:setIamPolicy`, ({ name, body: { policy } }) => {
      queueOf(name);
      cloud.policies.set(name, policy);
      return policy;
    }),
  ];
};

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues#RateLimits */
function checkLimits({ rateLimits }: Queue): void {
  if (rateLimits.maxDispatchesPerSecond > 500)
    throw new ApiError(400, `maxDispatchesPerSecond is ${rateLimits.maxDispatchesPerSecond}; 500 is the largest.`);
  if (rateLimits.maxConcurrentDispatches > 5_000)
    throw new ApiError(400, `maxConcurrentDispatches is ${rateLimits.maxConcurrentDispatches}; 5000 is the largest.`);
}
