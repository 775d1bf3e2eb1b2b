/**
 * Where an example runs: a project on the emulators, under the default rules or under the example's own edits of them.
 * The functions run in one project, the suite's; a test of rules alone has a project of its own. Each project starts with
 * fresh modules, so import the example after it.
 */
import { readFileSync } from "node:fs";
import { Firestore as AdminFirestore } from "@google-cloud/firestore";
import { deleteApp, getApps } from "firebase/app";
import { getAuth, signOut } from "firebase/auth";
import { type Firestore, setLogLevel } from "firebase/firestore";
import { deleteApp as deleteServerApp, getApps as getServerApps } from "firebase-admin/app";
import { prepareFirestore, type TestFirestore } from "firestore-tally/testing";
import { afterAll, afterEach, expect, vi } from "vitest";
import { loadRules, NEEDS_FUNCTIONS, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";

setLogLevel("silent");

const { GCLOUD_PROJECT = "", FIRESTORE_EMULATOR_HOST = "" } = process.env;
/** As `init` writes them for the parameters of the suite. */
const defaultRules = withPolicy(readFileSync("firestore.rules", "utf8"), NEEDS_FUNCTIONS);

export interface Project {
  /** The web app's Firestore. */
  readonly db: Firestore;
  /** The same database, past the rules. */
  readonly server: AdminFirestore;
  /** The sum of a counter's increments, on shards and in its document, and how many writes these took. */
  increments(id: string): Promise<{ sum: number; writes: number }>;
  /** The total, once it is the sum of the increments. */
  total(id: string): Promise<number>;
  /** Signs out: the next `userId()` of the example is another user. */
  anotherUser(): Promise<void>;
}

/** The project with the functions, once a test has opened it. */
let suite: TestFirestore | undefined;
let opened = 0;

/** To be called once at the top of a test of an example. */
export function setUpProjects(): void {
  afterEach(close);
  afterAll(async () => {
    if (!suite) return;
    suite = await prepareFirestore({ rules: OPEN_RULES });
    await suite.clear();
  });
}

/** The project with the functions. @param example  whose edits of the rules hold; without, the default rules hold */
export async function projectWithFunctions(example?: string): Promise<Project> {
  const isFirst = !suite;
  suite = await prepareFirestore({ rules: rulesOf(example) });
  if (isFirst) await suite.clear();
  return await open(GCLOUD_PROJECT);
}

/** A new project, without functions. @param host  another address of Firestore: a proxy's */
export async function newProject(example?: string, host = FIRESTORE_EMULATOR_HOST): Promise<Project> {
  const projectId = `demo-examples-${process.pid}-${++opened}`;
  await loadRules(projectId, rulesOf(example));
  return await open(projectId, host);
}

async function open(projectId: string, host = FIRESTORE_EMULATOR_HOST): Promise<Project> {
  await close();
  vi.resetModules();
  vi.doMock("../../examples/setup/firebaseConfig.ts", () => ({ firebaseConfig: { projectId, apiKey: "any" } }));
  const { auth, db } = await import("../../examples/setup/firebase.ts");
  const { connectEmulators } = await import("../../examples/setup/emulators.ts");
  connectEmulators({ ...process.env, FIRESTORE_EMULATOR_HOST: host });
  const server = new AdminFirestore({ projectId });
  return {
    db,
    server,
    async increments(id) {
      const counter = await server.doc(`counters/${id}`).get();
      const { docs } = await server.collection(`counters/${id}/shards`).get();
      const sumOf = (field: string) =>
        docs.reduce((sum, shard) => sum + (shard.get(field) ?? 0), counter.get(`direct.${field}`) ?? 0);
      return { sum: sumOf("count"), writes: sumOf("writes") };
    },
    async total(id) {
      if (!suite) throw new Error("this project has no functions");
      return await suite.settled({ path: `counters/${id}` }, 20_000);
    },
    anotherUser: async () => await signOut(auth),
  };
}

/** Every project makes the default apps. Auth would keep its user for the next one. */
async function close(): Promise<void> {
  await Promise.all(getApps().map((app) => signOut(getAuth(app))));
  await Promise.all([...getApps().map(deleteApp), ...getServerApps().map(deleteServerApp)]);
}

/** The default rules with an example's edits: a function replaces the one of its name, a match comes before the counters. */
function rulesOf(example: string | undefined): string {
  if (!example) return defaultRules;
  const edits = readFileSync(`examples/${example}/policy.rules`, "utf8").trim().split("\n\n");
  return edits.reduce((rules, edit) => {
    const name = /^function (\w+)\(/.exec(edit)?.[1];
    if (name) return withPolicy(rules, edit);
    if (!edit.startsWith("match ")) throw new Error(`firestore.rules has no place for this edit:\n${edit}`);
    return rules.replace(/(?=^ {4}match \/counters)/m, () => `${edit}\n\n`);
  }, defaultRules);
}

export const until = (check: () => void | Promise<void>) => vi.waitFor(check, 60_000);

export async function refused(attempt: Promise<unknown>): Promise<void> {
  await expect(attempt).rejects.toMatchObject({ code: expect.stringContaining("permission-denied") });
}
