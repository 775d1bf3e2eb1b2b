/** Topics (https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics). */

import { policyOf } from "../cloud.ts";
import { ApiError, notFound, route, type Service } from "../routes.ts";

const HOST = "pubsub.googleapis.com";
const TOPIC = "{name=projects/*/topics/*}";

export const pubsub: Service = (cloud) => [
  route("PUT", HOST, `/v1/${TOPIC}`, ({ name }) => {
    if (cloud.topics.has(name)) throw new ApiError(409, "Resource already exists in the project");
    cloud.topics.add(name);
    return { name };
  }),
  route("GET", HOST, `/v1/${TOPIC}:getIamPolicy`, ({ name }) => {
    if (!cloud.topics.has(name)) throw notFound("Topic");
    return policyOf(cloud, name);
  }),
];
