/** Sign-in, the project itself and its billing; and calls that a deployment makes aside. */

import { PROJECT_NUMBER } from "../cloud.ts";
import { route, type Service } from "../routes.ts";

const TOKEN = { access_token: "rehearsal", expires_in: 3_600, token_type: "Bearer" };

export const project: Service = () => [
  route("POST", "www.googleapis.com", "/oauth2/v3/token", () => TOKEN),
  route("POST", "oauth2.googleapis.com", "/token", () => TOKEN),
  route("GET", "firebase.googleapis.com", "/v1beta1/projects/{id}", ({ id }) => ({
    ...{ projectId: id, projectNumber: PROJECT_NUMBER, displayName: id, name: `projects/${id}`, state: "ACTIVE" },
    resources: {},
  })),
  route("GET", "firebase.googleapis.com", "/v1beta1/projects/{id}/adminSdkConfig", ({ id }) => ({
    ...{ projectId: id, storageBucket: `${id}.firebasestorage.app` },
  })),
  route("GET", "cloudresourcemanager.googleapis.com", "/v1/projects/{id}", ({ id }) => ({
    ...{ projectId: id, projectNumber: PROJECT_NUMBER },
  })),
  route("GET", "cloudbilling.googleapis.com", "/v1/projects/*/billingInfo", () => ({ billingEnabled: true })),
  route("GET", "firebaseextensions.googleapis.com", "/v1beta/projects/*/instances", () => ({ instances: [] })),
  route("GET", "runtimeconfig.googleapis.com", "/**", () => ({ configs: [] })),
  // The CLI's own messages and statistics.
  route("GET", "firebase-public.firebaseio.com", "/cli.json", () => ({})),
  route("POST", "www.google-analytics.com", "/**", () => ({})),
];
