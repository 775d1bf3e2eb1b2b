/** Which APIs are enabled: all that a deployment asks for (https://cloud.google.com/service-usage/docs/reference/rest). */
import { operation, route, type Service } from "../routes.ts";

const HOST = "serviceusage.googleapis.com";

export const serviceUsage: Service = (cloud) => [
  route("GET", HOST, "/v1/projects/*/services/{api}", ({ api }) => {
    cloud.enabledApis.add(api);
    return { name: api, state: "ENABLED" };
  }),
  route("POST", HOST, "/v1beta1/projects/*/services/*:generateServiceIdentity", () =>
    operation(cloud, cloud.newId("operations/identity")),
  ),
];
