/** Task queues (https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues). */

import { REGIONS } from "../../../functions/src/decisions.ts";
import { notFound, Refusal, route, type Service } from "../api.ts";
import { policyOf, type Queue } from "../cloud.ts";

const HOST = "cloudtasks.googleapis.com";
const QUEUE = "{name=projects/*/locations/*/queues/*}";

export const cloudTasks: Service = (cloud) => {
  const existing = (name: string): Queue => {
    const found = cloud.queues.get(name);
    if (!found) throw notFound();
    return found;
  };
  const save = (queue: Queue) => {
    checkLimits(queue);
    cloud.queues.set(queue.name, queue);
    return queue;
  };
  return [
    route("GET", HOST, `/v2/${QUEUE}`, ({ names: { name = "" } }) => existing(name)),
    route("POST", HOST, "/v2/projects/*/locations/{region}/queues", ({ names: { region = "" }, body }) => {
      // https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations/list
      if (!REGIONS.includes(region)) throw new Refusal(400, `Location '${region}' is not a valid location.`);
      if (cloud.queues.has(body.name)) throw new Refusal(409, "Queue already exists");
      return save({ state: "RUNNING", ...body });
    }),
    route("PATCH", HOST, `/v2/${QUEUE}`, ({ names: { name = "" }, body }) => save({ ...existing(name), ...body })),
    route("POST", HOST, `/v2/${QUEUE}:purge`, ({ names: { name = "" } }) => existing(name)),
    route("GET", HOST, `/v2/${QUEUE}/tasks`, () => ({ tasks: [] })),
    route("POST", HOST, `/v2/${QUEUE}:getIamPolicy`, ({ names: { name = "" } }) => policyOf(cloud, name)),
    route("POST", HOST, `/v2/${QUEUE}:setIamPolicy`, ({ names: { name = "" }, body: { policy } }) => {
      existing(name);
      cloud.policies.set(name, policy);
      return policy;
    }),
  ];
};

/** https://cloud.google.com/tasks/docs/reference/rest/v2/projects.locations.queues#RateLimits */
function checkLimits({ rateLimits }: Queue): void {
  if (rateLimits.maxDispatchesPerSecond > 500)
    throw new Refusal(400, `maxDispatchesPerSecond is ${rateLimits.maxDispatchesPerSecond}; 500 is the largest.`);
  if (rateLimits.maxConcurrentDispatches > 5_000)
    throw new Refusal(400, `maxConcurrentDispatches is ${rateLimits.maxConcurrentDispatches}; 5000 is the largest.`);
}
