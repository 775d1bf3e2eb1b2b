/** Security rules: rulesets, and which one is in force (https://firebase.google.com/docs/reference/rules/rest). */
import { parseDeclarations } from "../../../cli/src/rulesSyntax/declarations.ts";
import { existing, route, type Service } from "../routes.ts";

const HOST = "firebaserules.googleapis.com";

/** https://firebase.google.com/docs/firestore/quotas#security_rules */
const LARGEST_RULES = 256 * 1_024;

export const securityRules: Service = (cloud) => [
  route("POST", HOST, "/v1/projects/*:test", ({ body }) => {
    const [{ content }] = body.source.files;
    const isLarge = Buffer.byteLength(content) > LARGEST_RULES;
    const descriptions = [
      ...(isLarge ? [`Rules are larger than ${LARGEST_RULES} bytes.`] : []),
      ...parseDeclarations(content).problems,
    ];
    const issues = descriptions.map((description) => ({
      severity: "ERROR",
      sourcePosition: { line: 1, column: 1 },
      description,
    }));
    return { testResults: [], issues };
  }),
  route("POST", HOST, "/v1/{parent=projects/*}/rulesets", ({ parent, body }) => {
    const name = `${parent}/rulesets/${cloud.newId("ruleset")}`;
    cloud.rulesets.set(name, { ...body, name });
    return { name };
  }),
  route("GET", HOST, "/v1/{name=projects/*/rulesets/*}", ({ name }) => existing(cloud.rulesets, name)),
  route("GET", HOST, "/v1/projects/*/releases", () => ({ releases: [...cloud.releases.values()] })),
  route("GET", HOST, "/v1/{name=projects/*/releases/**}", ({ name }) => existing(cloud.releases, name)),
  route("PATCH", HOST, "/v1/{name=projects/*/releases/**}", ({ name, body: { release } }) => {
    existing(cloud.releases, name);
    cloud.releases.set(name, release);
    return release;
  }),
  route("POST", HOST, "/v1/projects/*/releases", ({ body }) => {
    cloud.releases.set(body.name, body);
    return body;
  }),
];
