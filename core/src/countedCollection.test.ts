import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CountedCollection,
  CounterError,
  countedCollectionOf,
  counterIdOf,
  isDocumentId,
  NO_COLLECTION,
  parseCountedCollection,
} from "./index.ts";

describe("COUNTED_COLLECTION", () => {
  test("counts no collection by default", () => {
    expect(parseCountedCollection(NO_COLLECTION)).toBeUndefined();
  });

  test.each(["posts", "posts/{post}/comments", "a/b/c", "é/{x}/b c/{_y2}/d", "a:b/{x}/c:d"])("may be %j", (path) => {
    expect(parseCountedCollection(path)?.join("/")).toBe(path);
  });

  test.each([
    ["", "the path of a collection"],
    ["/posts", "the path of a collection"],
    ["posts/", "the path of a collection"],
    ["posts/{post}", "the path of a collection"],
    ["posts//comments", "the path of a collection"],
    ["{any}", "the path of a collection"],
    ["posts/{post}/{any}", "the path of a collection"],
    ["posts/{post=**}/comments", "the path of a collection"],
    ["posts/{1}/comments", "the path of a collection"],
    ["posts/a{post}/comments", "the path of a collection"],
    ["posts/*/comments", "the path of a collection"],
    ["posts/../comments", "the path of a collection"],
    ["__posts__", "the path of a collection"],
    ["a/{x}/b/{x}/c", "each wildcard a different name"],
    ["a/{document}/b", "other than {document}"],
  ])("is refused as %j, with advice: %s", (path, advice) => {
    const parse = () => parseCountedCollection(path);
    expect(parse).toThrow(CounterError);
    expect(parse).toThrow(`counter/invalid-config: COUNTED_COLLECTION is ${JSON.stringify(path)}; `);
    expect(parse).toThrow(advice);
  });
});

describe("the counter of a counted collection", () => {
  const parsed = (path: string) => parseCountedCollection(path) as CountedCollection;

  test.each([
    ["posts", "posts", "posts"],
    ["a/b/c", "a/b/c", "c"],
    ["posts/{post}/comments", "posts/42/comments", "comments:42"],
    ["posts/{post}/comments", "posts/a:b/comments", "comments:a:b"],
    ["a/{x}/b/{y}/c", "a/1/b/2:3/c", "c:1:2:3"],
    ["a/{x}/b/y/c", "a/1/b/y/c", "c:1"],
    ["a/{x}/c:d", "a/1/c:d", "c:d:1"],
  ])("for %s: %s is counted by %s, and the reverse", (path, collection, id) => {
    expect(counterIdOf(collection, parsed(path))).toBe(id);
    expect(countedCollectionOf(id, parsed(path))).toBe(collection);
  });

  test.each([
    ["posts", "post"],
    ["posts", "posts:1"],
    ["posts/{post}/comments", "comments"],
    ["posts/{post}/comments", "comments:"],
    ["posts/{post}/comments", "comments:."],
    ["posts/{post}/comments", "comments:__x__"],
    ["posts/{post}/comments", "likes:42"],
    ["a/{x}/b/{y}/c", "c:1"],
    ["a/{x}/b/{y}/c", "c::1"],
  ])("for %s: the counter %j counts no collection", (path, id) => {
    expect(countedCollectionOf(id, parsed(path))).toBeUndefined();
  });

  test.each([
    ["a/{x}/b/{y}/c", "a/1:2/b/3/c", "belongs to another collection"],
    ["posts/{post}/__a", "posts/b__/__a", "is invalid"],
    ["posts/{post}/comments", `posts/${"x".repeat(1_495)}/comments`, "is too long"],
  ])("for %s: %s has no counter, because the id %s", (path, collection) => {
    expect(counterIdOf(collection, parsed(path))).toBeUndefined();
  });

  test("does not exist without COUNTED_COLLECTION", () => {
    expect([counterIdOf("posts", undefined), countedCollectionOf("posts", undefined)]).toEqual([undefined, undefined]);
  });

  test("counts only one collection, whatever the ids", () => {
    const id = fc.oneof(fc.constantFrom(":", "a", "a:", ":a", "."), fc.string({ minLength: 1 })).filter(isDocumentId);
    const counted = parsed("a/{x}/b/{y}/c/{z}/d");
    fc.assert(
      fc.property(id, id, id, (x, y, z) => {
        const collection = `a/${x}/b/${y}/c/${z}/d`;
        const counter = counterIdOf(collection, counted);
        if (x.includes(":") || y.includes(":")) expect(counter).toBeUndefined();
        else expect(countedCollectionOf(counter as string, counted)).toBe(collection);
      }),
    );
  });
});
