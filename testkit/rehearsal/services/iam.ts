/** Roles and accounts: Resource Manager, IAM, and the default account of Compute Engine. */

import { type Cloud, DEFAULT_ACCOUNT, type Policy, policyOf } from "../cloud.ts";
import { ApiError, notFound, route, type Service } from "../routes.ts";

const RESOURCE_MANAGER = "cloudresourcemanager.googleapis.com";
const IAM = "iam.googleapis.com";

export const iam: Service = (cloud) => {
  const own = `projects/${cloud.project}`;
  const found = (email: string) => {
    if (!cloud.accounts.has(email)) throw notFound("Unknown service account: it");
    return { name: `${own}/serviceAccounts/${email}`, email };
  };
  return [
    route("POST", RESOURCE_MANAGER, "/v1/projects/*:testIamPermissions", ({ body }) => ({
      permissions: body.permissions.filter((one: string) => !cloud.scenario.missingPermissions.includes(one)),
    })),
    route("POST", RESOURCE_MANAGER, "/v1/projects/*:getIamPolicy", () => policyOf(cloud, own)),
    route("POST", RESOURCE_MANAGER, "/v1/projects/*:setIamPolicy", ({ body: { policy } }) => {
      checkPolicy(cloud, policy, policyOf(cloud, own));
      const next = { ...policy, etag: cloud.newId("etag") };
      cloud.policies.set(own, next);
      return next;
    }),
    route("GET", "compute.googleapis.com", "/compute/v1/projects/*", () => ({
      defaultServiceAccount: DEFAULT_ACCOUNT,
    })),
    route("POST", IAM, "/v1/projects/*/serviceAccounts", ({ body: { accountId } }) => {
      // https://cloud.google.com/iam/docs/reference/rest/v1/projects.serviceAccounts/create
      if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(accountId))
        throw new ApiError(400, `Service account id ${accountId} is no id of 6 to 30 letters, digits and dashes.`);
      const email = `${accountId}@${cloud.project}.iam.gserviceaccount.com`;
      if (cloud.accounts.has(email)) throw new ApiError(409, `Service account ${accountId} already exists.`);
      cloud.accounts.add(email);
      return found(email);
    }),
    route("GET", IAM, "/v1/projects/*/serviceAccounts/{email}", ({ email }) => found(email)),
    route("DELETE", IAM, "/v1/projects/*/serviceAccounts/{email}", ({ email }) => {
      found(email);
      cloud.accounts.delete(email);
      return {};
    }),
    route("POST", IAM, "/v1/{resource=projects/*/serviceAccounts/*}:getIamPolicy", ({ resource }) =>
      policyOf(cloud, resource),
    ),
    route("POST", IAM, "/v1/projects/*/serviceAccounts/*:testIamPermissions", ({ body: { permissions } }) => ({
      permissions,
    })),
    route("GET", IAM, "/v1/{role=roles/*}", ({ role }) => ({ name: role, title: role })),
  ];
};

function checkPolicy(cloud: Cloud, policy: Policy, current: Policy): void {
  // https://cloud.google.com/iam/docs/allow-policies#etag
  if (policy.etag !== current.etag)
    throw new ApiError(409, "There were concurrent policy changes. Please retry the whole read-modify-write.");
  for (const { members } of policy.bindings) {
    for (const member of members) {
      const [, account] = /^serviceAccount:(.*)$/.exec(member) ?? [];
      // `isRetryableIamError` in firebase-tools/lib/gcp/resourceManager.js
      if (account?.endsWith(`@${cloud.project}.iam.gserviceaccount.com`) && !cloud.accounts.has(account))
        throw new ApiError(400, `Service account ${account} does not exist.`);
    }
  }
}
