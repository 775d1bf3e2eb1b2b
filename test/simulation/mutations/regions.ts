/** Mistakes in exchanging totals between regions. */
import type { Version } from "../model/database.ts";
import { type Fields, Timestamp } from "../model/values.ts";
import { committing, notScheduling, withoutPreconditions } from "./edits.ts";
import type { Mutation } from "./mutation.ts";

const inRegions = { world: "regions", breaks: ["I14"] } as const;

/** The registers of other regions in a counter document. */
function withRegisters(version: Version, change: (name: string, register: Fields) => Fields | undefined): Version {
  const { regions } = version.fields ?? {};
  if (!regions) return version;
  const changed = Object.entries(regions).flatMap(([name, register]) => {
    const other = register && change(name, register as Fields);
    return other ? [[name, other]] : [];
  });
  return { ...version, fields: { ...version.fields, regions: Object.fromEntries(changed) } };
}

/** The regions that an instance knows of. */
const membersOf = new WeakMap<object, readonly string[]>();

export const regionMutations: Record<string, Mutation> = {
  "an exchange without the precondition": {
    ...inRegions,
    seed: 7,
    ...committing("instance", ({ data = {} }) => "globalTotal" in data && !("total" in data), withoutPreconditions),
  },
  "an older register replaces a later one": {
    ...inRegions,
    seed: 7,
    document: (version) => withRegisters(version, (_, register) => ({ ...register, asOf: Timestamp.fromMillis(0) })),
  },
  "nothing follows a publish that its exchange has missed": {
    ...inRegions,
    ...notScheduling(({ kind, failingSince, due }) => kind === "exchange" && !failingSince && due <= Date.now()),
  },
  "nothing follows a merge of visitors that its exchange has missed": {
    ...inRegions,
    ...notScheduling(
      ({ kind, failingSince, due }) => kind === "exchangeVisitors" && !failingSince && due <= Date.now(),
    ),
  },
  "a merge of visitors schedules no exchange": {
    ...inRegions,
    ...notScheduling(({ kind, failingSince }) => kind === "exchangeVisitors" && !failingSince),
  },
  "a region's visitors replace those of the others": {
    ...inRegions,
    query: ({ collection }, find) =>
      collection.endsWith("/tallySketches") ? find().filter(({ path }) => path.endsWith("/uniques")) : find(),
  },
  "a region that has left no longer counts": {
    ...inRegions,
    seed: 117,
    backend: (backend, process) => {
      const { own, others = [] } = backend.config.regions ?? {};
      membersOf.set(process, [own ?? "", ...others.map(({ name }) => name)]);
      return backend;
    },
    document: (version, process) =>
      withRegisters(version, (name, register) => (membersOf.get(process)?.includes(name) ? register : undefined)),
  },
  "a counter without writes is not brought to a region that joins": {
    ...inRegions,
    call: async (action, make) => (action === "exchange" ? ([] as never) : await make()),
  },
  "a region that cannot be reached is not tried again": {
    ...inRegions,
    ...notScheduling(({ failingSince }) => failingSince !== undefined),
  },
};
