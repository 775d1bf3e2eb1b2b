import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError, isDocumentId } from "../../core/src/index.ts";
import { mirrorOf, parseMirrors } from "./mirror.ts";

describe("the parameter", () => {
  test("is empty by default, and may have several entries", () => {
    expect([parseMirrors(""), parseMirrors(" ")]).toEqual([[], []]);
    expect(parseMirrors("likes=posts/{key}.likes, views=posts/{key}.stats.views,posts=site/all.posts")).toEqual([
      { counters: "likes", document: ["posts", "{key}"], field: ["likes"] },
      { counters: "views", document: ["posts", "{key}"], field: ["stats", "views"] },
      { counters: "posts", document: ["site", "all"], field: ["posts"] },
    ]);
  });

  test.each([
    ["likes", "write group="],
    ["likes=", "write group="],
    ["likes=posts/{key}", "write group="],
    ["=posts/{key}.likes", "write group="],
    ["likes:42=posts/42.likes", "write group="],
    ["likes=posts/{key}.li kes", "write group="],
    ["likes=posts/{key}.likes,", "write group="],
    ["likes=posts.likes", "the path of a document"],
    ["likes=posts/{key}/comments.likes", "the path of a document"],
    ["likes=posts//x/{key}.likes", "the path of a document"],
    ["likes=/posts/{key}.likes", "the path of a document"],
    ["likes=posts/...likes", "the path of a document"],
    ["likes={key}/a.likes", "leave {key} out of the first segment"],
    ["likes=posts/{key}.", "name a field"],
    ["likes=posts/{key}.a..b", "name a field"],
    ["likes=posts/{key}.{key}", "name a field"],
    ["likes=posts/{key}.__name__", "name a field"],
    ["likes=posts/{key}.likes, likes=feed/{key}.likes", "two entries"],
  ])("is refused as %j, with advice: %s", (parameter, advice) => {
    const parse = () => parseMirrors(parameter);
    expect(parse).toThrow(CounterError);
    expect(parse).toThrow("counter/invalid-config: MIRRORS: ");
    expect(parse).toThrow(advice);
  });
});

describe("the mirror of a counter", () => {
  const mirrors = parseMirrors("likes=posts/{key}.likes,likes=site/all.likes,x=a/b-{key}/c/{key}.n.m");

  test.each([
    ["likes:42", "posts/42", ["likes"]],
    ["likes:a:b", "posts/a:b", ["likes"]],
    ["likes:v1.2", "posts/v1.2", ["likes"]],
    ["likes:{key}", "posts/{key}", ["likes"]],
    ["likes:$&", "posts/$&", ["likes"]],
    ["likes", "site/all", ["likes"]],
    ["x:1", "a/b-1/c/1", ["n", "m"]],
  ])("%s is in %s", (id, document, field) => {
    expect(mirrorOf(id, mirrors)).toEqual({ document, field });
  });

  test.each(["views:42", "like:42", ":42", "42", "likes:", "likes:.", "likes:..", "likes:__x__", "x"])(
    "%s has none",
    (id) => {
      expect(mirrorOf(id, mirrors)).toBeUndefined();
    },
  );

  test("is a document of the same collection, whatever the key, and no other counter's", () => {
    const ids = fc.string({ minLength: 1 }).filter((key) => isDocumentId(`likes:${key}`));
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        const [first, second] = [one, other].map((key) => mirrorOf(`likes:${key}`, mirrors)?.document);
        if (first !== undefined) expect(first.split("/")).toEqual(["posts", one]);
        expect(first !== undefined && first === second).toBe(first !== undefined && one === other);
      }),
    );
  });
});
