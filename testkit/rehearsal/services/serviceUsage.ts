/** Which APIs are enabled (https://cloud.google.com/service-usage/docs/reference/rest). */
import { operation, route, type Service } from "../routes.ts";

const HOST = "serviceusage.googleapis.com";

export const serviceUsage: Service = (cloud) => [
  route("GET", HOST, "/v1/projects/*/services/{api}", ({ api }) => {
    if (cloud.scenario.apis === "enabled") cloud.enabledApis.add(api);
    return { name: api, state: cloud.enabledApis.has(api) ? "ENABLED" : "DISABLED" };
  }),
  route("POST", HOST, "/v1/projects/*/services/{api}:enable", ({ api }) => {
    cloud.enabledApis.add(api);
    return operation(cloud, cloud.newId("operations/enable"));
  }),
  route("POST", HOST, "/v1beta1/projects/*/services/*:generateServiceIdentity", () =>
    operation(cloud, cloud.newId("operations/identity")),
  ),
];
