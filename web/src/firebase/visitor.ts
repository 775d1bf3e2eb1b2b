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

export function loadAuthSession(connection: Connection): Promise<AuthSession> {
  const before = loaded.get(connection);
  if (before) return before.session;
  const session = loadModule("authSession", () => import("./authSession.ts")).then(({ openAuthSession }) =>
    openAuthSession(connection),
  );
  loaded.set(connection, { session });
  // The next call tries again.
  session.catch(() => loaded.delete(connection));
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
    let isOver = false;
    const update = (next: Visitor | undefined) => {
      const auth = loaded.get(connection);
      if (auth) auth.visitor = next;
      setVisitor(next);
    };
    loadAuthSession(connection).then(
      (session) => {
        if (!isOver) end = session.watch(update);
      },
      // Without Auth no user is signed in.
      () => {},
    );
    return () => {
      isOver = true;
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
 *
 * @returns the id of the user who was denied
 */
export function useRetryOnSignIn(
  connection: Connection,
  error: Error | undefined,
  retry: () => void,
): { current: string | undefined } {
  const uid = useVisitor(connection)?.uid;
  const denied = useRef(uid);
  const isDenied = isPermissionDenied(error);
  useEffect(() => {
    if (!isDenied || !uid || uid === denied.current) return;
    denied.current = uid;
    retry();
  }, [isDenied, uid, retry]);
  return denied;
}
