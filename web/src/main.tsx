/** The frame of the page and its current view. Views load Firestore, so the frame is drawn first. */
import "./style.css";
import { type ComponentType, render } from "preact";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { useOnline } from "./page/browserState.ts";
import { Failure } from "./page/Failure.tsx";
import { connect, type Frame, loadView, preloadViews } from "./page/loading.ts";
import { type Route, useRoute } from "./page/route.ts";

interface Shown {
  readonly view: Route["view"];
  readonly View: ComponentType<{ connection: Frame["connection"]; id: string; query: Route }>;
}

const TITLES = { demo: "Tally", dashboard: "Counters – Tally", unknown: "No such page – Tally" };

function Page() {
  const route = useRoute();
  const online = useOnline();
  const id = route.view === "counter" ? route.id : "";
  const [frame, setFrame] = useState<Frame>();
  const [shown, setShown] = useState<Shown>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  useErrorBoundary(setError);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt loads again.
  useEffect(() => {
    let isCurrent = true;
    setError(undefined);
    Promise.all([loadView(route.view), connect()]).then(
      ([View, frame]) => {
        if (!isCurrent) return;
        setFrame(frame);
        setShown({ view: route.view, View: View as Shown["View"] });
        preloadViews();
      },
      (reason) => isCurrent && setError(reason),
    );
    return () => {
      isCurrent = false;
    };
  }, [route.view, attempt]);
  const hasFailed = useRef(false);
  hasFailed.current = !!error;
  useEffect(() => {
    if (online && hasFailed.current) setAttempt((before) => before + 1);
  }, [online]);
  useEffect(() => {
    document.title = route.view === "counter" ? `${id} – Tally` : TITLES[route.view];
    // Keyboard users continue in the new view.
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [route.view, id]);

  const isDemo = route.view === "demo";
  const isDashboard = route.view === "dashboard";
  const ready = shown?.view === route.view && frame ? { ...shown, ...frame } : undefined;
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
          <a href="#/dashboard" aria-current={isDashboard ? "page" : route.view === "counter"}>
            Dashboard
          </a>
        </nav>
        {frame && <frame.Account connection={frame.connection} />}
      </header>
      <p class="notice" role="status">
        {!online && "Offline. Increments are kept while this tab is open, and sent when you are online again."}
      </p>
      <main id="main" tabIndex={-1} ref={main} class={route.view} aria-busy={!ready && !error}>
        {error ? (
          <Failure error={error} online={online} retry={() => setAttempt(attempt + 1)} />
        ) : ready ? (
          <ready.View connection={ready.connection} id={id} query={route} key={id} />
        ) : (
          <h1 class="unseen">Connecting</h1>
        )}
      </main>
    </>
  );
}

render(<Page />, document.querySelector("#page") as HTMLElement);
