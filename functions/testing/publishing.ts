/** A publish whose commits are recorded, for tests of what they hold. */
import type { DocumentReference, FieldPath } from "firebase-admin/firestore";
import { toTimestamp } from "../src/counter/fields.ts";
import { publish } from "../src/counter/publish.ts";
import type { CounterConfig, CounterState, Published, PublishHooks } from "../src/counter/types.ts";
import { DEFAULT_CONFIG } from "../src/deploy/defaultConfig.ts";
import { idle } from "./arbitraries.ts";

/** Of every document, as it was read. */
export const UPDATE_TIME = toTimestamp(idle.asOf + 1);

/** What is published. */
export const NEXT: Published = { ...idle, total: 43, writes: 43, publishes: 8, asOf: idle.asOf + 5_000 };
export const AS_OF = toTimestamp(NEXT.asOf);

export const COUNTER = "counters/likes:42";

export interface Publishing extends Partial<Omit<CounterState, "ref">> {
  readonly features?: readonly PublishHooks[];
  readonly config?: Partial<CounterConfig>;
  /** The codes with which the first commits fail. */
  readonly codes?: readonly number[];
  /** What the other documents have in a field. */
  readonly fieldOf?: (field: FieldPath) => unknown;
}

/** Publishes over a counter document as it was read. @returns the commits, and whether the last one passed */
export async function publishing({ features = [], config, codes = [], fieldOf, ...state }: Publishing) {
  const outcomes = [...codes];
  const commits: unknown[][][] = [];
  const at = (path: string): object => ({
    id: path.slice(path.lastIndexOf("/") + 1),
    path,
    firestore: { batch, doc: at },
    get: async () => ({ ref: at(path), exists: true, updateTime: UPDATE_TIME, get: fieldOf }),
    collection: (name: string) => ({ doc: (id: string) => at(`${path}/${name}/${id}`) }),
  });
  function batch() {
    const writes: unknown[][] = [];
    const put =
      (kind: string) =>
      (ref: { path: string }, ...what: unknown[]) => {
        writes.push([kind, ref.path, ...what]);
      };
    const commit = async () => {
      commits.push(writes);
      const code = outcomes.shift();
      if (code !== undefined) throw Object.assign(new Error("refused"), { code });
      return [{ writeTime: UPDATE_TIME }];
    };
    return { create: put("create"), update: put("update"), set: put("set"), commit };
  }
  const read: CounterState = {
    ref: at(COUNTER) as DocumentReference,
    updateTime: state.published && UPDATE_TIME,
    published: undefined,
    reservation: undefined,
    adjusted: undefined,
    direct: undefined,
    ...state,
  };
  const configured = { ...DEFAULT_CONFIG, direct: false, ...config };
  const backend = { config: configured, features, pausedUntil: new Map(), schedule: async () => {} };
  return { commits, isPublished: (await publish(backend, read, NEXT, AS_OF)) !== undefined };
}
