import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError } from "./errors.ts";
import { mirrorSources, mirrorTarget, parseMirrors } from "./mirror.ts";
import { isDocumentId } from "./validation.ts";

describe("the parameter", () => {
  test("is empty by default, and may have several entries", () => {
    expect([parseMirrors("", "MIRRORS"), parseMirrors(" ", "MIRRORS")]).toEqual([[], []]);
    const list = "likes=posts/{name}.likes, views=posts/{name}.stats.views,posts=site/all.posts";
    expect(parseMirrors(list, "MIRRORS")).toEqual([
      { counters: "likes:{name}", document: "posts/{name}", field: ["likes"], isBridged: false },
      { counters: "views:{name}", document: "posts/{name}", field: ["stats", "views"], isBridged: false },
      { counters: "posts", document: "site/all", field: ["posts"], isBridged: false },
    ]);
    const nested = "likes:{user}:{post}=users/{user}/posts/{post}.likes";
    expect(parseMirrors(nested, "BRIDGE")).toEqual([
      { counters: "likes:{user}:{post}", document: "users/{user}/posts/{post}", field: ["likes"], isBridged: true },
    ]);
  });

  test.each([
    ["likes", "write group="],
    ["likes=", "write group="],
    ["likes=posts/{name}", "write group="],
    ["=posts/{name}.likes", "write group="],
    ["likes:42=posts/42.likes", "write group="],
    ["likes:{name}x=posts/{name}.likes", "write group="],
    ["likes:{name}:{name}=posts/{name}.likes", "write group="],
    ["{name}=posts/{name}.likes", "write group="],
    ["likes=users/{user}/posts/{post}.likes", "the same variables on both sides"],
    ["likes:{user}=users/{user}/posts/{post}.likes", "the same variables on both sides"],
    ["likes:{name}=posts/all.likes", "the same variables on both sides"],
    ["likes=posts/{name}.li kes", "write group="],
    ["likes=posts/{name}.likes,", "write group="],
    ["likes=posts.likes", "the path of a document"],
    ["likes=posts/{name}/comments.likes", "the path of a document"],
    ["likes=posts//x/{name}.likes", "the path of a document"],
    ["likes=/posts/{name}.likes", "the path of a document"],
    ["likes=posts/...likes", "the path of a document"],
    ["likes={name}/a.likes", "leave {name} out of the first segment"],
    ["likes=posts/{name}.", "name a field"],
    ["likes=posts/{name}.a..b", "name a field"],
    ["likes=posts/{name}.{name}", "name a field"],
    ["likes=posts/{name}.__name__", "name a field"],
    ["likes=posts/{name}.likes, likes=feed/{name}.likes", "two entries"],
    ["likes=posts/{name}.likes, likes:{user}:{post}=users/{user}/posts/{post}.likes", "two entries"],
    ["likes=posts/{name}.likes, stars=posts/{post}.likes", "a field of its own"],
    ["likes=posts/{name}.stats, stars=posts/{name}.stats.stars", "a field of its own"],
  ])("is refused as %j, with advice: %s", (parameter, advice) => {
    const parse = () => parseMirrors(parameter, "MIRRORS");
    expect(parse).toThrow(CounterError);
    expect(parse).toThrow("counter/invalid-config: MIRRORS: ");
    expect(parse).toThrow(advice);
  });
});

test("a map of the command line names the field first", () => {
  const parse = (map: string) => parseMirrors(map, "--map");
  expect(parse("pages/{page}.visits=views:{page}")).toEqual(parseMirrors("views=pages/{page}.visits", "BRIDGE"));
  for (const wrong of ["views=pages/{page}.visits", "pages/{page}.visits"]) {
    expect(() => parse(wrong)).toThrow(`--map: "${wrong}": write path/{name}.field=group:{name}`);
  }
});

describe("the mirror of a counter", () => {
  const list =
    "likes=posts/{name}.likes,likes=site/all.likes,x=a/b-{name}/c/{name}.n.m,y:{u}:{p}=users/{u}/posts/{p}.y";
  const mirrors = parseMirrors(list, "MIRRORS");

  test.each([
    ["likes:42", "posts/42", ["likes"]],
    ["likes:a:b", "posts/a:b", ["likes"]],
    ["likes:v1.2", "posts/v1.2", ["likes"]],
    ["likes:{name}", "posts/{name}", ["likes"]],
    ["likes:$&", "posts/$&", ["likes"]],
    ["likes", "site/all", ["likes"]],
    ["x:1", "a/b-1/c/1", ["n", "m"]],
    ["y:ann:1:2", "users/ann/posts/1:2", ["y"]],
  ])("%s is in %s, and is found from there", (id, document, field) => {
    expect(mirrorTarget(id, mirrors)).toEqual({ document, field, isBridged: false });
    expect(mirrorSources(document, mirrors)).toEqual([{ counterId: id, field }]);
  });

  test.each([
    "posts",
    "posts/1/comments/2",
    "sites/all",
    "a/b-1/c/2",
    "users/a:b/posts/c",
    "x/posts/1",
    "posts/a\nb/c",
  ])("the document %j shows none", (document) => expect(mirrorSources(document, mirrors)).toEqual([]));

  test("a document shows several, each in a field of its own", () => {
    const both = parseMirrors("views=pages/{name}.visits, likes=pages/{page}.stats.likes", "BRIDGE");
    expect(mirrorSources("pages/home", both)).toEqual([
      { counterId: "views:home", field: ["visits"] },
      { counterId: "likes:home", field: ["stats", "likes"] },
    ]);
  });

  test.each(["views:42", "like:42", ":42", "42", "likes:", "likes:.", "likes:..", "likes:__x__", "x"])(
    "%s has none",
    (id) => {
      expect(mirrorTarget(id, mirrors)).toBeUndefined();
    },
  );

  test("is a document of the same collection, whatever the name, and no other counter's", () => {
    const ids = fc.string({ minLength: 1 }).filter((name) => isDocumentId(`likes:${name}`));
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        const [first, second] = [one, other].map((name) => mirrorTarget(`likes:${name}`, mirrors)?.document);
        if (first !== undefined) expect(first.split("/")).toEqual(["posts", one]);
        expect(first !== undefined && first === second).toBe(first !== undefined && one === other);
      }),
    );
  });
});
