/** Auth, fetched when the page has been drawn: nothing that is seen first needs it. */
import type { Backend } from "./backend.ts";
import type { Session } from "./session.ts";

const sessions = new WeakMap<Backend, Promise<Session>>();

export function sessionOf(backend: Backend): Promise<Session> {
  const known = sessions.get(backend);
  if (known) return known;
  const session = import("./session.ts").then(({ openSession }) => openSession(backend));
  sessions.set(backend, session);
  return session;
}
