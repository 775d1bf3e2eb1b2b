/** Who may call a function: the policies of its service (https://cloud.google.com/run/docs/reference/rest). */

import { policyOf } from "../cloud.ts";
import { ApiError, route, type Service } from "../routes.ts";

const HOST = "run.googleapis.com";

export const cloudRun: Service = (cloud) => [
  route("POST", HOST, "/v1/{name=projects/*/locations/*/services/*}:setIamPolicy", ({ name, body }) => {
    // https://cloud.google.com/resource-manager/docs/organization-policy/restricting-domains
    if (cloud.scenario.orgForbidsPublic && JSON.stringify(body.policy).includes("allUsers"))
      throw new ApiError(400, "One or more users named in the policy do not belong to a permitted customer.");
    cloud.policies.set(name, body.policy);
    return body.policy;
  }),
  ...["v1", "v2"].map((version) =>
    route("GET", HOST, `/${version}/{name=projects/*/locations/*/services/*}:getIamPolicy`, ({ name }) =>
      policyOf(cloud, name),
    ),
  ),
  // Services that are no functions.
  route("GET", HOST, "/v2/projects/*/locations/*/services", () => ({ services: [] })),
];
