/** The repository of the functions' images (https://cloud.google.com/artifact-registry/docs/reference/rest). */
import { existing, route, type Service } from "../routes.ts";

const HOST = "artifactregistry.googleapis.com";
const REPOSITORY = "{name=projects/*/locations/*/repositories/*}";

export const artifactRegistry: Service = (cloud) =>
  ["v1", "v1beta2"].flatMap((version) => [
    route("GET", HOST, `/${version}/${REPOSITORY}`, ({ name }) => existing(cloud.repositories, name, "Repository")),
    route("PATCH", HOST, `/${version}/${REPOSITORY}`, ({ name, body }) => {
      const next = { ...cloud.repositories.get(name), ...body };
      cloud.repositories.set(name, next);
      return next;
    }),
  ]);
