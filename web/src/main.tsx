/** The frame of the page and its current view. Views load Firestore, so the frame is drawn first. */
import "./style.css";
import { type ComponentType, render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import type { Connection } from "./firebase/connection.ts";
import { loadFirebaseSetup } from "./firebase/firebaseSetup.ts";
import { useOnline } from "./page/browserState.ts";
import { type Route, useRoute } from "./page/route.ts";

const views = {
  demo: () => import("./demo/Demo.tsx").then((module) => module.Demo),
  dashboard: () => import("./dashboard/Dashboard.tsx").then((module) => module.Dashboard),
  counter: () => import("./dashboard/CounterPage.tsx").then((module) => module.CounterPage),
} satisfies Record<Route["view"], () => Promise<unknown>>;

type View = ComponentType<{ connection: Connection; id: string; query: Route }>;

const connected = Promise.all([loadFirebaseSetup(), import("./firebase/connection.ts")]).then(
  ([setup, { openConnection }]) => openConnection(setup),
);
// The page shows the error when it renders.
connected.catch(() => {});

function Page() {
  const [route, visit] = useRoute();
  const online = useOnline();
  const id = route.view === "counter" ? route.id : "";
  const [shown, setShown] = useState<{ view: Route["view"]; View: View; connection: Connection } | undefined>();
  const [error, setError] = useState<Error | undefined>();
  useErrorBoundary(setError);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    let isCurrent = true;
    setError(undefined);
    Promise.all([views[route.view](), connected]).then(
      ([View, connection]) => isCurrent && setShown({ view: route.view, View: View as View, connection }),
      (reason) => isCurrent && setError(reason),
    );
    return () => {
      isCurrent = false;
    };
  }, [route.view]);
  useEffect(() => {
    document.title = { demo: "Tally", dashboard: "Counters – Tally", counter: `${id} – Tally` }[route.view];
    // Keyboard users continue in the new view.
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
        {!online && "Offline. Increments are kept while this tab is open, and sent when you are online again."}
      </p>
      <main id="main" tabIndex={-1} ref={main} class={route.view} aria-busy={!ready && !error}>
        {error ? (
          <Failure error={error} />
        ) : ready ? (
          <ready.View
            connection={ready.connection}
            id={id}
            query={route}
            key={route.view === "dashboard" ? visit : id}
          />
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
      <h1>The page could not be loaded</h1>
      <p>{error.message}</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </section>
  );
}

render(<Page />, document.querySelector("#page") as HTMLElement);
