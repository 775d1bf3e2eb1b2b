import { counter, incrementCounter } from "firestore-tally";
import { createElement, type FunctionComponent } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { projectWithFunctions, refused, setUpProjects, until } from "./project.ts";

setUpProjects();

test("a like counts once per user, and the button shows it at once", async () => {
  const { total, increments, db, anotherUser } = await projectWithFunctions();
  const { like, unlike, watchLikes } = await import("../../examples/likes/likes.ts");
  let button: object = {};
  const stop = watchLikes("post", (state) => {
    button = { ...button, ...state };
  });
  await until(() => expect(button).toEqual({ total: 0, liked: false }));
  const liking = like("post");
  await until(() => expect(button).toEqual({ total: 1, liked: true }));
  await liking;
  await like("post");
  expect((await increments("likes:post")).sum).toBe(1);
  await refused(incrementCounter(counter(db, "likes:post")));
  await unlike("post");
  await unlike("post");
  await until(() => expect(button).toEqual({ total: 0, liked: false }));
  await like("post");
  await anotherUser();
  await until(() => expect(button).toEqual({ total: 1, liked: false }));
  await like("post");
  await until(() => expect(button).toEqual({ total: 2, liked: true }));
  stop();
  expect(await total("likes:post")).toBe(2);
});

test("the React button renders on the server", async () => {
  await projectWithFunctions();
  // In a variable, since the repository's own tsconfig has no JSX. examples/tsconfig.json checks the file.
  const file = "../../examples/likes/LikeButton.tsx";
  const { LikeButton }: { LikeButton: FunctionComponent<Record<string, unknown>> } = await import(
    /* @vite-ignore */ file
  );
  const html = renderToString(
    createElement(LikeButton, { post: "post", user: "ada", initialTotal: { total: 7, version: 7 } }),
  );
  expect(html.replaceAll("<!-- -->", "")).toBe('<button type="button" disabled="">♡ 7</button>');
});
