/** The React hooks on a server. */
import { connectFirestoreEmulator } from "firebase/firestore";
import { counter, getCounter } from "firestore-tally";
import { createElement, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, expect, test } from "vitest";
import { client } from "../../testkit/clients.ts";
import { Counted } from "../browser/pages/Counted.ts";
import { Liked } from "../browser/pages/Liked.ts";

const server = client();
afterAll(() => server.close());

test("useCounter renders its initial total, useIncremented renders undefined, and neither uses the network", async () => {
  const of = counter(server.db, "ssr:page");
  const render = (initialTotal?: number) =>
    renderToString(createElement(StrictMode, null, createElement(Counted, { of, initialTotal })));
  expect(render(42)).toContain('<output id="total">42</output><output id="pending">false</output>');
  expect(render(0)).toContain('<output id="total">0</output>');
  expect(render()).toContain('<output id="total">…</output>');
  const liked = createElement(Liked, { of, by: "ada" });
  expect(renderToString(createElement(StrictMode, null, liked))).toContain('<output id="liked">undefined</output>');
  // Firestore takes another address only before its first request.
  const port = Number(process.env.FIRESTORE_EMULATOR_HOST?.split(":")[1]);
  connectFirestoreEmulator(server.db, "localhost", port);
  await getCounter(of);
  expect(() => connectFirestoreEmulator(server.db, "127.0.0.1", port)).toThrow("already been started");
});
