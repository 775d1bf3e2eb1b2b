/** What `doctor` would find of Tally's deployments, and which of their functions are public without need. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findingsOf } from "../../cli/src/doctor/checks.ts";
import { declaredDatabase } from "../../cli/src/doctor/declaredDatabase.ts";
import { type Deployment, findDeployments, variablesOf } from "../../cli/src/doctor/deployments.ts";
import { seen } from "../../cli/src/doctor/facts.ts";
import type { GoogleApis } from "../../cli/src/doctor/googleApis.ts";
import { readApis } from "../../cli/src/doctor/readApis.ts";
import type { FirebaseJson } from "../../cli/src/nearestFirebaseJson.ts";
import { type Cloud, idOf, segmentAfter } from "./cloud.ts";
import { fakeApis } from "./fakeApis.ts";
import { publicFunctions } from "./resources.ts";

const readShipped = (file: string) => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");

/** A rehearsal of functions alone finds no rules and indexes, which says nothing of the project. */
const NOT_DEPLOYED = { unseen: "Firestore is not deployed in this rehearsal" };

/** What a project without data does not show. */
const NO_DATA = { unseen: "a rehearsal has no data" };

/** @param json  the app's `firebase.json` */
export async function tallyProblems(cloud: Cloud, json: FirebaseJson | undefined): Promise<string[]> {
  const apis = readOnly(cloud);
  const target = { project: cloud.project, database: "(default)", collection: "counters", emulator: null };
  const all = await readApis(apis, target);
  const deployments = findDeployments(seen(all.functions) ?? []);
  const problems = deployments.map(async (deployment) => {
    const { database, collection } = deployment;
    const own = { ...target, database, collection };
    const facts = await readApis(apis, own);
    const account = deployment.functions.get("aggregate")?.serviceAccount;
    const findings = findingsOf({
      ...facts,
      ...(cloud.releases.size === 0 && { rules: NOT_DEPLOYED, indexes: NOT_DEPLOYED, fields: NOT_DEPLOYED }),
      ...(cloud.accounts.has(account ?? "") ? {} : { grants: { unseen: "an account of your own" } }),
      ...{ target: own, reads: 0 },
      declared: { value: declaredDatabase(json, database) },
      shippedRules: { value: readShipped("firestore.rules") },
      shippedIndexes: { value: JSON.parse(readShipped("firestore.indexes.json")) },
      ...{ plan: NO_DATA, counters: NO_DATA, regions: NO_DATA, mirrors: NO_DATA, appCheck: NO_DATA },
    });
    return [...findings.map(({ problem, remedy }) => `${problem} → ${remedy}`), ...needlesslyPublic(cloud, deployment)];
  });
  return (await Promise.all(problems)).flat();
}

/** The parameters that ask for a public function: those whose trigger is a request. */
const ASKED_BY: Readonly<Record<string, string>> = { ingest: "INGEST_COUNTERS", totals: "TOTALS_COUNTERS" };

function needlesslyPublic(cloud: Cloud, deployment: Deployment): string[] {
  const names = new Map([...deployment.functions].map(([name, { name: id, region }]) => [`${region}/${id}`, name]));
  return publicFunctions(cloud).flatMap(({ name }) => {
    const id = idOf(name);
    const functionName = names.get(`${segmentAfter(name, "locations")}/${id}`);
    const parameter = ASKED_BY[functionName ?? ""];
    if (!functionName || (parameter && variablesOf(deployment)?.[parameter])) return [];
    return [`${id} is public, and nothing asks for it`];
  });
}

/** The APIs as `doctor` reads them. */
function readOnly(cloud: Cloud): GoogleApis {
  const answer = fakeApis(cloud);
  const ask = (method: "GET" | "POST", host: string, path: string) => {
    const { status, body } = answer({ method, host, url: `/${path}`, bytes: new Uint8Array() });
    return { status, body: JSON.parse(JSON.stringify(body)) };
  };
  const get = (host: string, path: string, method: "GET" | "POST" = "GET") => {
    const { status, body } = ask(method, host, path);
    if (status !== 200) throw new Error(`${host}: ${body.error.message}`);
    return body;
  };
  return {
    get: async (host, path) => get(host, path),
    find: async (host, path) => {
      const { status, body } = ask("GET", host, path);
      return status === 404 ? undefined : body;
    },
    list: async (host, path, field) => get(host, path)[field] ?? [],
    policy: async (host, resource, method = "POST") => get(host, `${resource}:getIamPolicy`, method),
  };
}
