/** Auth, fetched when the page has been drawn: nothing that is seen first needs it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Backend } from "./backend.ts";
import type { Session, Visitor } from "./session.ts";

interface Known {
  readonly session: Promise<Session>;
  /** As it was told last. */
  visitor?: Visitor | undefined;
}

const known = new WeakMap<Backend, Known>();

export function sessionOf(backend: Backend): Promise<Session> {
  const before = known.get(backend);
  if (before) return before.session;
  const session = import("./session.ts").then(({ openSession }) => openSession(backend));
  known.set(backend, { session });
  // Whoever asks next tries again.
  session.catch(() => known.delete(backend));
  return session;
}

/** The token of whoever is known to be signed in. Does not fetch Auth to find out. */
export async function tokenOf(backend: Backend): Promise<string | undefined> {
  return (await known.get(backend)?.session)?.token();
}

/** Who is signed in; `undefined` for nobody, and until it is known. */
export function useVisitor(backend: Backend): Visitor | undefined {
  const [visitor, setVisitor] = useState(() => known.get(backend)?.visitor);
  useEffect(() => {
    let end: (() => void) | undefined;
    let isOver = false;
    const tell = (next: Visitor | undefined) => {
      const session = known.get(backend);
      if (session) session.visitor = next;
      setVisitor(next);
    };
    sessionOf(backend).then(
      (session) => {
        if (!isOver) end = session.watch(tell);
      },
      // Without Auth, nobody is signed in.
      () => {},
    );
    return () => {
      isOver = true;
      end?.();
    };
  }, [backend]);
  return visitor;
}

/** Whether the rules do not show something to whoever asked. */
export function isRefusal(error: Error | undefined): boolean {
  return (error as { code?: string } | undefined)?.code === "permission-denied";
}

/**
 * Asks again for what was refused when somebody else is signed in; after a reload, too, where it was asked before it was
 * known who asks.
 *
 * @returns the id of who was refused
 */
export function useAgain(
  backend: Backend,
  error: Error | undefined,
  again: () => void,
): { current: string | undefined } {
  const uid = useVisitor(backend)?.uid;
  const refused = useRef(uid);
  const isRefused = isRefusal(error);
  useEffect(() => {
    if (!isRefused || !uid || uid === refused.current) return;
    refused.current = uid;
    again();
  }, [isRefused, uid, again]);
  return refused;
}
