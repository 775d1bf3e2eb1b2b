/** The repository of the functions' images (https://cloud.google.com/artifact-registry/docs/reference/rest). */
import { notFound, route, type Service } from "../api.ts";

const HOST = "artifactregistry.googleapis.com";
const REPOSITORY = "{name=projects/*/locations/*/repositories/*}";

export const artifactRegistry: Service = (cloud) =>
  ["v1", "v1beta2"].flatMap((version) => [
    route("GET", HOST, `/${version}/${REPOSITORY}`, ({ names: { name = "" } }) => {
      const found = cloud.repositories.get(name);
      if (!found) throw notFound("Repository");
      return found;
    }),
    route("PATCH", HOST, `/${version}/${REPOSITORY}`, ({ names: { name = "" }, body }) => {
      const next = { ...cloud.repositories.get(name), ...body };
      cloud.repositories.set(name, next);
      return next;
    }),
  ]);
