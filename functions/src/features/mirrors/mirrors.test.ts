/** What a publish does to the document of a mirror. */
import { FieldPath, FieldValue, Timestamp } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { describe, expect, test, vi } from "vitest";
import { parseMirrors } from "../../../../core/src/index.ts";
import { idle } from "../../../testing/arbitraries.ts";
import { AS_OF, COUNTER, NEXT, type Publishing, publishing, UPDATE_TIME } from "../../../testing/publishing.ts";
import { serializeCounter } from "../../counter/counterDocument.ts";
import { mirrors } from "./mirrors.ts";

const STATS = parseMirrors("likes=posts/{name}.stats.likes", "MIRRORS");
const BRIDGED = parseMirrors("likes=posts/{name}.stats.likes", "BRIDGE");
const LIKES = new FieldPath("stats", "likes");

interface Mirroring extends Publishing {
  /** What the mirror shows, and in which field, as far as the counter knows. */
  readonly amount?: number;
  readonly shownIn?: string;
  readonly again?: boolean;
  /** What the mirror's document has: a map `stats`, unless something else is in its place. */
  readonly stats?: unknown;
}

async function mirroring({ amount = 0, shownIn, again = false, stats = { likes: amount }, ...others }: Mirroring) {
  const isMap = typeof stats === "object";
  const likes = isMap ? (stats as { likes?: unknown } | null)?.likes : undefined;
  const { commits, isPublished } = await publishing({
    features: [mirrors],
    published: idle,
    config: { mirrors: STATS },
    mirrors: { amount, shownIn, again },
    fieldOf: (field) => (field.isEqual(LIKES) ? likes : stats),
    ...others,
  });
  return { commits, isPublished, isMirrored: commits.map((writes) => writes.some(([, path]) => path === "posts/42")) };
}

describe("the mirror of a counter", () => {
  const [guarded, shownIn] = [{ lastUpdateTime: UPDATE_TIME }, "posts/42 stats.likes"];

  test("is written in the same commit, if the total has changed", async () => {
    const { commits } = await mirroring({});
    const recorded = { ...serializeCounter("likes:42", NEXT, AS_OF), mirrored: 43, mirroredIn: shownIn };
    // On the condition that `stats` still is a map.
    expect(commits).toEqual([
      [
        ["update", COUNTER, recorded, guarded],
        ["update", "posts/42", LIKES, 43, guarded],
      ],
    ]);
    const shown = { published: { ...idle, total: 43 }, amount: 43, shownIn };
    expect((await mirroring(shown)).isMirrored).toEqual([false]);
    const again = await mirroring({ ...shown, again: true });
    expect(again.commits[0]?.[0]?.[2]).toMatchObject({ mirrored: 43, mirrorAgain: FieldValue.delete() });
    expect(again.isMirrored).toEqual([true]);
    const without = await mirroring({ ...shown, again: true, config: { mirrors: [] } });
    expect(without.commits[0]?.[0]?.[2]).toMatchObject({ mirrorAgain: FieldValue.delete() });
  });

  test("never replaces what is no map", async () => {
    const log = vi.spyOn(logger, "write").mockReturnValue();
    for (const stats of ["a text", null, [1, 2], Timestamp.now()])
      for (const fields of [STATS, BRIDGED]) {
        const { isMirrored, isPublished } = await mirroring({ stats, config: { mirrors: fields } });
        expect([isMirrored, isPublished]).toEqual([[false], true]);
      }
    // Once in an instance, since each publish tries again.
    const message = expect.stringContaining("could not mirror a total");
    expect(log.mock.calls).toEqual([[expect.objectContaining({ message, counter: "likes:42" })]]);
    log.mockRestore();
  });

  test("gets what it does not show yet, if old apps add to the field, too", async () => {
    const bridged = { amount: 40, config: { mirrors: BRIDGED } };
    const valueIn = async (changes: Mirroring) => (await mirroring({ ...bridged, ...changes })).commits[0]?.[1]?.[3];
    const { commits } = await mirroring(bridged);
    expect(commits[0]?.[1]).toEqual(["update", "posts/42", LIKES, FieldValue.increment(3), guarded]);
    expect(await valueIn({ stats: {} })).toBe(43);
    const behind = await mirroring({ ...bridged, published: { ...idle, total: 43 } });
    expect(behind.isMirrored).toEqual([true]);
    expect((await mirroring({ ...bridged, amount: 43 })).isMirrored).toEqual([false]);
    expect(await valueIn({ amount: 43, again: true })).toEqual(FieldValue.increment(0));
    expect(await valueIn({ amount: 43, shownIn: "posts/42 likes" })).toEqual(FieldValue.increment(43));
  });

  test("is skipped if its document is missing or full; the publish is not delayed, and what others write is kept", async () => {
    const log = vi.spyOn(logger, "write").mockReturnValue();
    const other = {
      name: "other",
      contribute: ({ ref }: { ref: { collection(id: string): { doc(id: string): never } } }) => ({
        fields: {},
        addTo: (batch: { set(ref: never, fields: object): unknown }) =>
          void batch.set(ref.collection("kept").doc("a"), {}),
      }),
    };
    const features = [mirrors, other] as Publishing["features"];
    const config = { mirrors: parseMirrors("likes=posts/{name}.likes", "MIRRORS") };
    for (const code of [5, 3]) {
      const { commits, isMirrored, isPublished } = await mirroring({ features: features ?? [], config, codes: [code] });
      expect([isMirrored, isPublished]).toEqual([[true, false], true]);
      for (const writes of commits) expect(writes.at(-1)).toEqual(["set", `${COUNTER}/kept/a`, {}]);
      // A document that is missing is an ordinary thing.
      if (code === 5) expect(log).not.toHaveBeenCalled();
    }
    log.mockRestore();
  });
});
