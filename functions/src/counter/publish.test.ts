/** What one commit of a publish holds. That Firestore keeps its preconditions is for `test/`. */

import { type DocumentReference, FieldPath, FieldValue, Timestamp } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { describe, expect, test, vi } from "vitest";
import { parseMirrors } from "../../../core/src/index.ts";
import { idle } from "../../testing/arbitraries.ts";
import { DEFAULT_CONFIG as defaults } from "../deploy/defaultConfig.ts";
import { FEATURES } from "../features/features.ts";
import { serializeCounter } from "./counterDocument.ts";
import { toTimestamp } from "./fields.ts";
import { publish } from "./publish.ts";
import type { Published } from "./types.ts";

const updateTime = toTimestamp(idle.asOf + 1);
const next: Published = { ...idle, total: 43, writes: 43, publishes: 8, asOf: idle.asOf + 5_000 };
const asOf = toTimestamp(next.asOf);
const document = {
  ...serializeCounter("likes:42", next, asOf),
  stock: null,
  countedCollection: null,
  countReads: 0,
};
/** Over a document that is stored, which may have these fields of a group that was chosen before. */
const cleared = { ...document, windows: FieldValue.delete(), minuteInHistory: FieldValue.delete() };
const config = { ...defaults, direct: false, mirrors: parseMirrors("likes=posts/{name}.stats.likes", "MIRRORS") };

/** The document of the mirror has a map `stats`, unless something else is in its place. */
function fieldOf(stats: unknown, field: FieldPath): unknown {
  const likes = new FieldPath("stats", "likes");
  if (typeof stats === "object") return field.isEqual(likes) ? (stats as { likes?: unknown } | null)?.likes : stats;
  return field.isEqual(likes) ? undefined : stats;
}

/** Publishes over a counter document as it was read. @returns the commits, and whether the last one passed */
async function publishing(
  over: Partial<{
    published: Published;
    isStored: boolean;
    mirrored: number;
    mirroredIn: string;
    mirrorAgain: boolean;
    stats: unknown;
  }>,
  ...more: (number | typeof config)[]
) {
  const outcomes = more.filter((one) => typeof one === "number");
  const { configured = config } = { configured: more.find((one) => typeof one === "object") };
  const commits: unknown[][] = [];
  const at = (path: string): object => ({
    id: path.slice(path.lastIndexOf("/") + 1),
    path,
    firestore: { batch, doc: at },
    get: async () => ({ ref: at(path), exists: true, updateTime, get: (field: FieldPath) => fieldOf(stats, field) }),
    collection: (name: string) => ({ doc: (id: string) => at(`${path}/${name}/${id}`) }),
  });
  function batch() {
    const writes: unknown[] = [];
    const put =
      (kind: string) =>
      (ref: { path: string }, ...what: unknown[]) => {
        writes.push([
          kind,
          ref.path,
          ...what.map((one) => ((one as FieldPath).toString().startsWith("`") ? `${one}` : one)),
        ]);
      };
    const commit = async () => {
      commits.push(writes);
      const code = outcomes.shift();
      if (code !== undefined) throw Object.assign(new Error("refused"), { code });
      return [{ writeTime: updateTime }];
    };
    return { create: put("create"), update: put("update"), set: put("set"), commit };
  }
  const {
    published,
    isStored = published !== undefined,
    mirrored = 0,
    mirroredIn,
    mirrorAgain = false,
    stats = { likes: mirrored },
  } = over;
  const state = {
    ref: at("counters/likes:42") as DocumentReference,
    updateTime: isStored ? updateTime : undefined,
    published,
    reservation: undefined,
    mirrors: { amount: mirrored, shownIn: mirroredIn, again: mirrorAgain },
    adjusted: undefined,
    direct: undefined,
  };
  const isPublished =
    (await publish(
      { config: configured, features: FEATURES, pausedUntil: new Map(), schedule: async () => {} },
      state,
      next,
      asOf,
    )) !== undefined;
  return { commits, isPublished };
}

const counter = "counters/likes:42";
const guarded = ["update", counter, cleared, { lastUpdateTime: updateTime }];
const PERMISSION_DENIED = 7;

describe("a publish", () => {
  test("I3: has the precondition that the counter document is as it was read", async () => {
    const { commits, isPublished } = await publishing({ published: idle }, { ...config, mirrors: [] });
    expect({ commits, isPublished }).toEqual({ commits: [[guarded]], isPublished: true });
  });

  test("I3: creates the document if there was none, and keeps fields that a server has written before", async () => {
    const created = await publishing({}, { ...config, mirrors: [] });
    expect(created.commits[0]?.[0]).toEqual(["create", counter, document]);
    const prepared = await publishing({ isStored: true }, { ...config, mirrors: [] });
    expect(prepared.commits[0]?.[0]).toEqual(guarded);
  });

  test.each([
    ["another has published since", 9],
    ["another has created it", 6],
    ["it was deleted", 5],
  ])("says so if %s", async (_why, code) => {
    const { isPublished } = await publishing({ published: { ...idle, total: 43 } }, code, code);
    expect(isPublished).toBe(false);
  });

  test("rejects with other errors", async () => {
    await expect(publishing({ published: idle }, PERMISSION_DENIED)).rejects.toMatchObject({ code: PERMISSION_DENIED });
  });

  test("keeps the state it replaces, in the same commit, also if the document of its mirror is missing", async () => {
    const before = { ...idle, total: 41, asOf: next.asOf - 3_600_000 };
    const { commits, isPublished } = await publishing({ published: before }, 5, {
      ...config,
      history: { ...config.history, groups: ["likes"] },
    });
    const kept = [
      "set",
      "counters/likes:42/tallyHistory/hours-2023-11-14",
      { points: { 21: { total: 41 } } },
      { merge: true },
    ];
    expect(commits.map((writes) => writes.map((write) => (write as unknown[])[1]))).toEqual([
      [counter, "posts/42", kept[1]],
      [counter, kept[1]],
    ]);
    for (const writes of commits) expect(writes.at(-1)).toMatchObject(kept);
    expect(isPublished).toBe(true);
  });
});

describe("the mirror of a counter", () => {
  const mirrored = (commits: unknown[][]) => commits.map((writes) => writes.length > 1);

  test("is written in the same commit, if the total has changed", async () => {
    const { commits } = await publishing({ published: idle });
    const recorded = [
      "update",
      counter,
      { ...cleared, mirrored: 43, mirroredIn: "posts/42 stats.likes" },
      { lastUpdateTime: updateTime },
    ];
    // On the condition that `stats` still is a map.
    const guarded = { lastUpdateTime: updateTime };
    expect(commits).toEqual([[recorded, ["update", "posts/42", expect.anything(), 43, guarded]]]);
    const shown = { published: { ...idle, total: 43 }, mirrored: 43, mirroredIn: "posts/42 stats.likes" };
    expect(mirrored((await publishing(shown)).commits)).toEqual([false]);
    const again = await publishing({ ...shown, mirrorAgain: true });
    expect(again.commits[0]?.[0]?.[2 as never]).toMatchObject({ mirrored: 43, mirrorAgain: FieldValue.delete() });
    expect(mirrored(again.commits)).toEqual([true]);
    const without = await publishing({ ...shown, mirrorAgain: true }, { ...config, mirrors: [] });
    expect(without.commits[0]?.[0]?.[2 as never]).toMatchObject({ mirrorAgain: FieldValue.delete() });
  });

  test.each([["a text"], [null], [[1, 2]], [Timestamp.now()]])("never replaces %j by a map", async (stats) => {
    const log = vi.spyOn(logger, "write").mockReturnValue();
    for (const parameter of ["MIRRORS", "BRIDGE"] as const) {
      const mirrors = parseMirrors("likes=posts/{name}.stats.likes", parameter);
      const { commits, isPublished } = await publishing({ published: idle, stats }, { ...config, mirrors });
      expect([mirrored(commits), isPublished]).toEqual([[false], true]);
    }
    // Once in an instance, since each publish tries again.
    expect(log.mock.calls.length).toBeLessThanOrEqual(1);
    log.mockRestore();
  });

  test("gets what it does not show yet, if old apps add to the field, too", async () => {
    const bridged = { ...defaults, mirrors: parseMirrors("likes=posts/{name}.stats.likes", "BRIDGE") };
    const { commits } = await publishing({ published: idle, mirrored: 40 }, bridged);
    expect(commits[0]?.[1]).toEqual([
      "update",
      "posts/42",
      expect.anything(),
      FieldValue.increment(3),
      { lastUpdateTime: updateTime },
    ]);
    const gone = await publishing({ published: idle, mirrored: 40, stats: {} }, bridged);
    expect(gone.commits[0]?.[1]?.[3 as never]).toBe(43);
    const behind = await publishing({ published: { ...idle, total: 43 }, mirrored: 40 }, bridged);
    expect(mirrored(behind.commits)).toEqual([true]);
    const shown = await publishing({ published: idle, mirrored: 43 }, bridged);
    expect(mirrored(shown.commits)).toEqual([false]);
    const again = await publishing({ published: idle, mirrored: 43, mirrorAgain: true }, bridged);
    expect(again.commits[0]?.[1]?.[3 as never]).toEqual(FieldValue.increment(0));
    const elsewhere = await publishing({ published: idle, mirrored: 43, mirroredIn: "posts/42 likes" }, bridged);
    expect(elsewhere.commits[0]?.[1]?.[3 as never]).toEqual(FieldValue.increment(43));
  });

  test("is skipped if its document is missing or full, and never delays the publish", async () => {
    const log = vi.spyOn(logger, "write").mockReturnValue();
    const mirrors = parseMirrors("likes=posts/{name}.likes", "MIRRORS");
    for (const code of [5, 3]) {
      const { commits, isPublished } = await publishing({ published: idle }, { ...config, mirrors }, code);
      expect([mirrored(commits), isPublished]).toEqual([[true, false], true]);
      // A document that is missing is an ordinary thing.
      if (code === 5) expect(log).not.toHaveBeenCalled();
    }
    log.mockRestore();
  });
});
