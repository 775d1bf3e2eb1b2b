/** References of the built package are values: state libraries may wrap, freeze and copy them. */
import { initializeApp } from "firebase/app";
import { doc, type Firestore, getFirestore, terminate } from "firebase/firestore";
import { produce } from "immer";
import { observable } from "mobx";
// @ts-expect-error: what the compiler makes of $state has no types
import { proxy } from "svelte/internal/client";
import { afterAll, expect, test } from "vitest";
import { reactive, ref as vueRef } from "vue";

type Api = typeof import("./src/web/index.ts");
const { counter, prepareIncrement, bufferedCounter, counterStore, connectRegions, globalCounter, regionalCounter } =
  (await import(new URL("dist/index.js", import.meta.url).href)) as Api;

const db: Firestore = getFirestore(initializeApp({ projectId: "demo-tally-references" }, "references"));
afterAll(() => terminate(db));

const likes = counter(db, "likes:post42");

/** What the libraries make of a reference, by the library. */
const kept: Record<string, (ref: typeof likes) => typeof likes> = {
  nothing: (ref) => ref,
  "a copy": (ref) => ({ ...ref }),
  "Vue's ref": (ref) => vueRef(ref).value as typeof ref,
  "Vue's reactive, nested": (ref) => reactive({ page: { ref } }).page.ref as typeof ref,
  "Immer, which freezes": (ref) =>
    produce([] as (typeof ref)[], (draft) => {
      draft.push(ref);
    })[0] as typeof ref,
  MobX: (ref) => observable({ ref }).ref,
  "Svelte's $state": (ref) => (proxy({ ref }) as { ref: typeof ref }).ref,
  "Object.freeze": Object.freeze,
};

const regions = connectRegions({ us: db });
const everywhere = globalCounter(regions, "likes:post42");

test.each(Object.entries(kept))("a reference kept by %s names the same counter", (_name, keep) => {
  const same = keep(likes);
  expect(prepareIncrement(same).ref).toBe(likes);
  expect(counterStore(same).getSnapshot()).toEqual({});
  expect(doc(same.firestore, same.path).path).toBe("counters/likes:post42");
  expect(() => bufferedCounter(same)).not.toThrow();
  const global = keep(everywhere as never) as unknown as typeof everywhere;
  expect(regionalCounter(global, "us").path).toBe(likes.path);
  expect(globalCounter(keep(regions as never) as unknown as typeof regions, "likes:post42").id).toBe(everywhere.id);
});
