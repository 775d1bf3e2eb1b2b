/** Topics (https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics). */
import { notFound, Refusal, route, type Service } from "../api.ts";
import { policyOf } from "../cloud.ts";

const HOST = "pubsub.googleapis.com";
const TOPIC = "{name=projects/*/topics/*}";

export const pubsub: Service = (cloud) => [
  route("PUT", HOST, `/v1/${TOPIC}`, ({ names: { name = "" } }) => {
    if (cloud.topics.has(name)) throw new Refusal(409, "Resource already exists in the project");
    cloud.topics.add(name);
    return { name };
  }),
  route("GET", HOST, `/v1/${TOPIC}:getIamPolicy`, ({ names: { name = "" } }) => {
    if (!cloud.topics.has(name)) throw notFound("Topic");
    return policyOf(cloud, name);
  }),
];
