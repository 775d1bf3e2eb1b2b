import { describe, expect, test } from "vitest";
import type { CounterSource } from "../../core/src/index.ts";
import { parseFilter, parseSource, sourceForCounter } from "./sourceOptions.ts";

describe("the options of a source", () => {
  test("name the entries, a collection or a collection group, with comparisons and a sum", () => {
    expect(parseSource({})).toBeUndefined();
    expect(parseSource({ entries: true })).toEqual({ entries: true });
    expect(parseSource({ from: "posts" })).toEqual({ collection: "posts" });
    expect(parseSource({ fromGroup: "posts", where: ["state == public"], sum: "score" })).toEqual({
      collectionGroup: "posts",
      where: [{ field: "state", op: "==", value: "public" }],
      sum: "score",
    });
  });

  test.each([
    { entries: true, from: "posts" },
    { from: "posts", fromGroup: "posts" },
    { sum: "score" },
    { where: ["a == b"] },
    { entries: true, sum: "score" },
  ])("are rejected if they contradict each other: %j", (options) => {
    expect(() => parseSource(options)).toThrow("--from");
  });
});

test.each<[string, unknown]>([
  ["state == public", { field: "state", op: "==", value: "public" }],
  ["state == in progress", { field: "state", op: "==", value: "in progress" }],
  ["score >= 10", { field: "score", op: ">=", value: 10 }],
  ["author.verified == true", { field: "author.verified", op: "==", value: true }],
  ['zip == "0815"', { field: "zip", op: "==", value: "0815" }],
  ['state in ["public", "shared"]', { field: "state", op: "in", value: ["public", "shared"] }],
  ["tags array-contains news", { field: "tags", op: "array-contains", value: "news" }],
])("a comparison: %s", (text, filter) => {
  expect(parseFilter(text)).toEqual(filter);
});

test.each(["state", "state = public", "== public", "state ==", ""])("not a comparison: %s", (text) => {
  expect(() => parseFilter(text)).toThrow("--where");
});

describe("a source for several counters", () => {
  test("names documents of each", () => {
    const source = { collection: "posts/{name}/likes", where: [{ field: "of", op: "==", value: "{id}" } as const] };
    expect(sourceForCounter(source, "likes:42:a")).toEqual({
      collection: "posts/42:a/likes",
      where: [{ field: "of", op: "==", value: "likes:42:a" }],
    });
    expect(sourceForCounter(source, "plain")).toMatchObject({ collection: "posts/plain/likes" });
  });

  test.each(["US$$b", "a$&", "a$`", "$1", "{id}"])("keeps a name unchanged: %s", (name) => {
    const source = {
      collection: "posts/{name}/likes",
      where: [
        { field: "tag", op: "in", value: ["{name}", "x", 1, null] },
        { field: "of", op: "==", value: { counter: "{id}/{name}" } },
      ],
    } as const;
    expect(sourceForCounter(source, `likes:${name}`)).toEqual({
      collection: `posts/${name}/likes`,
      where: [
        { field: "tag", op: "in", value: [name, "x", 1, null] },
        { field: "of", op: "==", value: { counter: `likes:${name}/${name}` } },
      ],
    });
  });

  test.each([
    { fromGroup: "likes{name}" },
    { from: "posts/{name}/likes", sum: "{name}" },
    { from: "posts/{name}/likes", where: ["by{id} == 1"] },
  ])("is rejected where a placeholder would be left: %j", (options) => {
    expect(() => sourceForCounter(parseSource(options) as CounterSource, "likes:42")).toThrow(
      "{name} are allowed in the path",
    );
  });

  test("is validated once the placeholders are filled in", () => {
    expect(() => sourceForCounter({ collection: "posts/{name}" }, "likes:42")).toThrow("counter/invalid-source");
  });
});
