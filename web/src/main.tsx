/** The frame of the page, and which view is in it. The views bring Firestore along, so the frame is there before them. */
import "./style.css";
import { type ComponentType, render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import type { Backend } from "./firebase/backend.ts";
import { askHosting } from "./firebase/hosting.ts";
import { useOnline } from "./page/conditions.ts";
import { type Route, useRoute } from "./page/route.ts";

const views = {
  demo: () => import("./demo/Demo.tsx").then((module) => module.Demo),
  dashboard: () => import("./dashboard/Dashboard.tsx").then((module) => module.Dashboard),
  counter: () => import("./dashboard/CounterPage.tsx").then((module) => module.CounterPage),
} satisfies Record<Route["view"], () => Promise<unknown>>;

type View = ComponentType<{ backend: Backend; id: string; asked: Route }>;

const opened = Promise.all([askHosting(), import("./firebase/backend.ts")]).then(([setup, { openBackend }]) =>
  openBackend(setup),
);
// Whoever renders says so.
opened.catch(() => {});

function Page() {
  const route = useRoute();
  const online = useOnline();
  const id = route.view === "counter" ? route.id : "";
  const [shown, setShown] = useState<{ view: Route["view"]; View: View; backend: Backend } | undefined>();
  const [error, setError] = useState<Error | undefined>();
  useErrorBoundary(setError);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    let isCurrent = true;
    setError(undefined);
    Promise.all([views[route.view](), opened]).then(
      ([View, backend]) => isCurrent && setShown({ view: route.view, View: View as View, backend }),
      (reason) => isCurrent && setError(reason),
    );
    return () => {
      isCurrent = false;
    };
  }, [route.view]);
  useEffect(() => {
    document.title = { demo: "Tally", dashboard: "Counters – Tally", counter: `${id} – Tally` }[route.view];
    // Whoever came by keyboard goes on from the new view.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [route.view, id]);

  const isDemo = route.view === "demo";
  const ready = shown?.view === route.view ? shown : undefined;
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header>
        <a class="name" href="#/">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M7 6v20M13 6v20M19 6v20M25 6v20M3 23 29 9" />
          </svg>
          Tally
        </a>
        <nav aria-label="Views">
          <a href="#/" aria-current={isDemo && "page"}>
            Demo
          </a>
          <a href="#/dashboard" aria-current={route.view === "dashboard" ? "page" : !isDemo}>
            Dashboard
          </a>
        </nav>
      </header>
      <p class="notice" role="status">
        {!online && "Offline. What you add is kept while this tab is open, and sent when you are back."}
      </p>
      <main id="main" tabIndex={-1} ref={main} class={route.view} aria-busy={!ready && !error}>
        {error ? (
          <Failure error={error} />
        ) : ready ? (
          <ready.View backend={ready.backend} id={id} asked={route} key={id} />
        ) : (
          <Empty />
        )}
      </main>
    </>
  );
}

function Empty() {
  return <h1 class="unseen">Connecting</h1>;
}

function Failure({ error }: { error: Error }) {
  return (
    <section class="state">
      <h1>Nothing to count on</h1>
      <p>{error.message}</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </section>
  );
}

render(<Page />, document.querySelector("#page") as HTMLElement);
