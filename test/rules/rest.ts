/** Firestore over REST, without an SDK: any commit as any user, in a project with its own rules. */
import { loadRules } from "../../testkit/rules.ts";

/** A value in REST: `{ integerValue: "1" }`, `{ stringValue: "x" }` and so on. */
export type Value = Record<string, unknown>;
export type Fields = Record<string, Value>;

/** One write of a commit. Paths are relative to the database, as are those of a `World`. */
export interface Write {
  path: string;
  /** New fields of the document or of the mask; left out for a delete or a single transform. */
  set?: Fields;
  /** Field paths; left out, the whole document is replaced. */
  mask?: string[];
  transforms?: ({ fieldPath: string } & Record<string, unknown>)[];
  delete?: true;
  precondition?: { exists: boolean };
}

/** All documents, by path. */
export type World = Record<string, Fields>;

/** A uid; `null` is signed out. */
export type User = string | null;

/** A user with additional claims in the ID token. */
export interface Claims {
  readonly uid: string;
  readonly [claim: string]: unknown;
}

/** The emulator's token that bypasses the rules. */
export const ADMIN = "owner";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Database {
  /** The name of the root of all documents, for references. */
  readonly documents: string;
  /** @returns the HTTP status: 200 if the commit was accepted */
  commit(user: User | Claims, writes: readonly Write[]): Promise<number>;
  /** Bypasses the rules. */
  read(paths: readonly string[]): Promise<World>;
  /**
   * Any other call, by its path below the database's documents: `counters/home:runQuery`.
   *
   * @returns the answer; of a list of them, the first
   */
  call(user: User | Claims, method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object): Promise<Answer>;
}

const host = process.env.FIRESTORE_EMULATOR_HOST;

/** Opens a project of the emulator with its own rules and without functions. */
export async function database(project: string, rules: string): Promise<Database> {
  const documents = `projects/${project}/databases/(default)/documents`;
  const name = (path: string) => `${documents}/${path}`;

  async function send(user: User | Claims, method: string, path: string, body?: object): Promise<Response> {
    const token = user === null || user === ADMIN ? user : unsignedToken(project, user);
    return await fetch(`http://${host}/v1/${documents}${path}`, {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  await loadRules(project, rules);

  return {
    documents,
    async commit(user, writes) {
      const response = await send(user, "POST", ":commit", {
        writes: writes.map((write) => toRest(write, name(write.path))),
      });
      await response.arrayBuffer();
      return response.status;
    },
    async read(paths) {
      const response = await send(ADMIN, "POST", ":batchGet", { documents: paths.map(name) });
      if (!response.ok) throw new Error(`batchGet: ${await response.text()}`);
      const results = (await response.json()) as { found?: { name: string; fields?: Fields } }[];
      return Object.fromEntries(
        results.flatMap(({ found }) => (found ? [[found.name.slice(documents.length + 1), found.fields ?? {}]] : [])),
      );
    },
    async call(user, method, path, body) {
      const response = await send(user, method, path.startsWith(":") ? path : `/${path}`, body);
      const answer = (await response.json()) as Answer["body"] | Answer["body"][];
      return { status: response.status, body: Array.isArray(answer) ? (answer[0] ?? {}) : answer };
    },
  };
}

function toRest(write: Write, name: string): object {
  const currentDocument = write.precondition;
  if (write.delete) return { delete: name, currentDocument };
  if (!write.set) return { transform: { document: name, fieldTransforms: write.transforms }, currentDocument };
  return {
    update: { name, fields: write.set },
    ...(write.mask && { updateMask: { fieldPaths: write.mask } }),
    updateTransforms: write.transforms,
    currentDocument,
  };
}

/** An unsigned ID token, which the emulator accepts. */
export function unsignedToken(project: string, user: string | Claims): string {
  const { uid, ...others } = typeof user === "string" ? { uid: user } : user;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1_000);
  const claims = { ...others, sub: uid, user_id: uid, aud: project, iss: `https://securetoken.google.com/${project}` };
  return `${part({ alg: "none", type: "JWT" })}.${part({ ...claims, iat: now, exp: now + 3_600 })}.`;
}
