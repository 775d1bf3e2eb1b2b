/** The current visitor. Auth is loaded after the first draw, which does not need it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { loadModule } from "../page/loadModule.ts";
import type { AuthSession, Visitor } from "./authSession.ts";
import type { Connection } from "./connection.ts";

interface LoadedAuth {
  readonly session: Promise<AuthSession>;
  /** The latest known visitor. */
  visitor?: Visitor | undefined;
}

const loaded = new WeakMap<Connection, LoadedAuth>();

/** Called once Auth is loaded, after a first attempt that has failed. */
const waiting = new Set<(session: AuthSession) => void>();

export function loadAuthSession(connection: Connection): Promise<AuthSession> {
  const before = loaded.get(connection);
  if (before) return before.session;
  const session = loadModule("authSession", () => import("./authSession.ts")).then(({ openAuthSession }) =>
    openAuthSession(connection),
  );
  loaded.set(connection, { session });
  session.then(
    (opened) => {
      for (const start of waiting) start(opened);
      waiting.clear();
    },
    // The next call tries again.
    () => loaded.delete(connection),
  );
  return session;
}

/** The user's ID token, if Auth is loaded and a user is signed in. Does not load Auth. */
export async function currentToken(connection: Connection): Promise<string | undefined> {
  return (await loaded.get(connection)?.session)?.token();
}

/** The signed-in visitor; `undefined` if no user is signed in, and until that is known. */
export function useVisitor(connection: Connection): Visitor | undefined {
  const [visitor, setVisitor] = useState(() => loaded.get(connection)?.visitor);
  useEffect(() => {
    let end: (() => void) | undefined;
    const start = (session: AuthSession) => {
      end = session.watch(update);
    };
    let isOver = false;
    const update = (next: Visitor | undefined) => {
      const auth = loaded.get(connection);
      if (auth) auth.visitor = next;
      setVisitor(next);
    };
    loadAuthSession(connection).then(
      (session) => isOver || start(session),
      // Without Auth no user is signed in.
      () => isOver || waiting.add(start),
    );
    return () => {
      isOver = true;
      waiting.delete(start);
      end?.();
    };
  }, [connection]);
  return visitor;
}

export function isPermissionDenied(error: Error | undefined): boolean {
  return (error as { code?: string } | undefined)?.code === "permission-denied";
}

/**
 * Retries a denied read when another user is signed in. After a reload that is also the case: the first read may be sent
 * before the user is restored.
 */
export function useRetryOnSignIn(connection: Connection, error: Error | undefined, retry: () => void): void {
  const { uid, isOperator = false } = useVisitor(connection) ?? {};
  // A user who gets the claim may read more.
  const reader = uid && `${uid} ${isOperator}`;
  const denied = useRef(reader);
  const isDenied = isPermissionDenied(error);
  useEffect(() => {
    if (!isDenied || reader === denied.current) return;
    denied.current = reader;
    if (reader) retry();
  }, [isDenied, reader, retry]);
}
