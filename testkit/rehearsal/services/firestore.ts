/** Databases, indexes and fields (https://firebase.google.com/docs/firestore/reference/rest). */
import { isDeepStrictEqual } from "node:util";
import { MULTI_REGIONS, REGIONS } from "../../../functions/src/decisions.ts";
import type { Cloud, Database } from "../cloud.ts";
import { ApiError, type Body, operation, route, type Service } from "../routes.ts";

const HOST = "firestore.googleapis.com";

export const firestore: Service = (cloud) => {
  const databaseOf = (name: string): Database => {
    const found = cloud.databases.get(name);
    if (!found) throw new ApiError(404, `The database ${name} does not exist.`);
    return found;
  };
  const within = <T>(resources: ReadonlyMap<string, T>, database: string): T[] =>
    [...resources].flatMap(([name, one]) => (name.startsWith(`${database}/`) ? [one] : []));
  return [
    route("GET", HOST, "/v1/{name=projects/*/databases/*}", ({ name }) => databaseOf(name)),
    route("GET", HOST, "/v1/projects/*/databases", () => ({ databases: [...cloud.databases.values()] })),
    route("POST", HOST, "/v1/{parent=projects/*}/databases", ({ parent, query, body }) => {
      const id = query.get("databaseId") ?? "";
      checkDatabase(id, body);
      const name = `${parent}/databases/${id}`;
      if (cloud.databases.has(name)) throw new ApiError(409, "Database already exists. Please use another database_id");
      cloud.databases.set(name, { databaseEdition: "STANDARD", ...body, name });
      return operation(cloud, `${name}/operations/create`, { name });
    }),
    route("GET", HOST, "/v1/{name=projects/*/databases/*}/collectionGroups/-/indexes", ({ name }) => {
      databaseOf(name);
      return { indexes: within(cloud.indexes, name) };
    }),
    route(
      "POST",
      HOST,
      "/v1/{name=projects/*/databases/*}/collectionGroups/{group}/indexes",
      ({ name, group, body }) => {
        const index = createIndex(cloud, databaseOf(name), `${name}/collectionGroups/${group}`, body);
        return operation(cloud, cloud.newId(`${name}/operations/index`), index);
      },
    ),
    route("DELETE", HOST, "/v1/{name=projects/*/databases/*/collectionGroups/*/indexes/*}", ({ name }) => {
      cloud.indexes.delete(name);
      return {};
    }),
    route("GET", HOST, "/v1/{name=projects/*/databases/*}/collectionGroups/-/fields", ({ name }) => {
      databaseOf(name);
      return { fields: within(cloud.fields, name) };
    }),
    route(
      "PATCH",
      HOST,
      "/v1/{database=projects/*/databases/*}/{field=collectionGroups/*/fields/**}",
      ({ database, field, body, query }) => {
        const { databaseEdition } = databaseOf(database);
        const name = `${database}/${field}`;
        // The Enterprise edition indexes no field by itself, so an exemption is a mistake. What Google answers is not known; nor to an
        // empty list of indexes, which the CLI sends with each TTL policy.
        if (databaseEdition === "ENTERPRISE" && body.indexConfig && !body.ttlConfig)
          cloud.problems.add(`${database} is of the Enterprise edition, which needs no exemption of ${field}`);
        cloud.fields.set(name, { ...cloud.fields.get(name), ...fieldOf(name, body, query.get("updateMask")) });
        return operation(cloud, cloud.newId(`${database}/operations/field`), { name });
      },
    ),
  ];
};

/** https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases/create */
function checkDatabase(id: string, { locationId }: Database): void {
  if (id !== "(default)" && !/^[a-z][a-z0-9-]{2,61}[a-z0-9]$/.test(id))
    throw new ApiError(400, `database_id ${id} is neither (default) nor 4 to 63 letters, digits and dashes.`);
  // https://firebase.google.com/docs/firestore/locations
  if (![...REGIONS, ...Object.keys(MULTI_REGIONS)].includes(locationId))
    throw new ApiError(400, `${locationId} is not a valid location of Firestore.`);
}

function createIndex(cloud: Cloud, { databaseEdition }: Database, group: string, body: Body): object {
  const isStandard = databaseEdition === "STANDARD";
  const own = body.fields.filter(({ fieldPath }: { fieldPath: string }) => fieldPath !== "__name__");
  // https://firebase.google.com/docs/firestore/query-data/index-overview: single fields are indexed by themselves.
  if (isStandard && own.length < 2)
    throw new ApiError(400, "this index is not necessary, configure using single field index controls");
  // https://github.com/firebase/firebase-tools/issues/1119
  const isSame = ([name, index]: [string, Record<string, unknown>]) =>
    name.startsWith(`${group}/`) && isDeepStrictEqual(index.requested, body);
  if ([...cloud.indexes].some(isSame)) throw new ApiError(409, "index already exists");
  const name = `${group}/indexes/${cloud.newId("index")}`;
  const last = { fieldPath: "__name__", order: own.at(-1).order };
  const fields = isStandard && own.length === body.fields.length ? [...body.fields, last] : body.fields;
  const density = isStandard ? "SPARSE_ALL" : (body.density ?? "SPARSE_ANY");
  const index = { ...body, name, state: "READY", fields, apiScope: "ANY_API", density };
  cloud.indexes.set(name, index);
  Object.defineProperty(index, "requested", { value: body });
  return index;
}

/** What a patch sets. @param mask  the parts that it names; without one, all of them */
function fieldOf(name: string, { indexConfig, ttlConfig }: Body, mask: string | null): object {
  const isSet = (part: string) => mask === null || mask.includes(part);
  const indexes = (indexConfig?.indexes ?? []).map((one: object) => ({ state: "READY", ...one }));
  return {
    name,
    ...(isSet("indexConfig") && { indexConfig: { ...indexConfig, indexes } }),
    ...(isSet("ttlConfig") && { ttlConfig: ttlConfig && { state: "ACTIVE" } }),
  };
}
