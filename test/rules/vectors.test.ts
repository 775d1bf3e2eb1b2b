/**
 * Sends the commits of docs/vectors.json over REST, as a client for another platform would, and compares the web client's
 * own writes with them.
 */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { Firestore, Timestamp } from "firebase-admin/firestore";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { counterPath, planIncrement } from "../../core/src/index.ts";
import { unsignedToken } from "./rest.ts";

interface Vector {
  name: string;
  /** The uid of the writer; `null` if signed out; `"server"` to bypass the rules. */
  auth: string | null;
  /** Documents before the commit: `{ "secondsAgo": n }` is a time before now, `{ "bytes": "…" }` bytes in base64. */
  before: { path: string; [field: string]: unknown }[];
  /** The body of `documents:commit`, with the placeholder `{project}`. */
  commit: { writes: { update?: { name: string } }[] };
  /** Whether the rules accept the commit, and the sum of the counter's shards afterwards. */
  expect: { accepted: boolean; sum: number };
}

const PROJECT = "demo-tally-vectors";
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const vectors: Vector[] = JSON.parse(readFileSync("docs/vectors.json", "utf8"));
const admin = new Firestore({ projectId: PROJECT });

beforeAll(async () => {
  const [name = "", port] = host.split(":");
  const rules = readFileSync("firestore.rules", "utf8");
  await initializeTestEnvironment({ projectId: PROJECT, firestore: { host: name, port: Number(port), rules } });
});
beforeEach(async () => {
  for (const counter of await admin.collection("counters").listDocuments()) await admin.recursiveDelete(counter);
});
afterAll(() => admin.terminate());

test.each(vectors)("$name", async ({ auth, before, commit, expect: expected }) => {
  for (const { path, ...fields } of before) await admin.doc(path).set(stored(fields) as object);
  const response = await send(commit, auth);
  expect(response.status, await response.text()).toBe(expected.accepted ? 200 : 403);
  const counter = /counters\/([^/]+)\//.exec(JSON.stringify(commit))?.[1];
  const shards = await admin.collection(`counters/${counter}/shards`).get();
  expect(shards.docs.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0)).toBe(expected.sum);
});

test("the first vector is the web client's write", () => {
  const [first] = vectors as [Vector];
  const write = first.commit.writes[0] as Record<string, unknown> & { update: { name: string; fields: object } };
  const bytes = [...Buffer.from(NONCE, "base64")];
  const plan = planIncrement(
    counterPath("counters", "views:home"),
    "0",
    1,
    7 * 15_000,
    () => (bytes.shift() ?? 0) / 256,
  );
  expect(write.update.name.endsWith(`/documents/${plan.path}`)).toBe(true);
  expect(write.updateMask).toEqual({ fieldPaths: ["shard"] });
  expect(write.update.fields).toEqual({ shard: { stringValue: plan.shard } });
  expect(write.updateTransforms).toEqual([
    { fieldPath: "count", increment: { integerValue: String(plan.by) } },
    { fieldPath: "writes", increment: { integerValue: "1" } },
    { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
    { fieldPath: `marks.\`${plan.window}\`.at`, setToServerValue: "REQUEST_TIME" },
    {
      fieldPath: `marks.\`${plan.window}\`.nonces`,
      appendMissingElements: { values: [{ bytesValue: Buffer.from(plan.nonce).toString("base64") }] },
    },
  ]);
});

test("I5: a server's commit with a receipt counts once when it is sent several times", async () => {
  const { commit, auth } = vectors.find(({ auth }) => auth === "server") as Vector;
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) statuses.push((await send(commit, auth)).status);
  expect(statuses).toEqual([200, 409, 409]);
  const shards = await admin.collection("counters/downloads:setup/shards").get();
  expect(shards.docs.map((shard) => [shard.id, shard.get("count"), shard.get("writes")])).toEqual([["3", 1, 1]]);
});

async function send(commit: Vector["commit"], auth: Vector["auth"]): Promise<Response> {
  const token = auth === "server" ? "owner" : auth && unsignedToken(PROJECT, auth);
  return await fetch(`http://${host}/v1/projects/${PROJECT}/databases/(default)/documents:commit`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(commit).replaceAll("{project}", PROJECT),
  });
}

/** The nonce of every valid increment in the vectors. */
const NONCE = "cbNt/g==";

/** Fields as the Admin SDK stores them. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== "object" || value === null) return value;
  const { secondsAgo, bytes } = value as { secondsAgo?: number; bytes?: string };
  if (secondsAgo !== undefined) return Timestamp.fromMillis(Date.now() - secondsAgo * 1_000);
  if (bytes !== undefined) return Buffer.from(bytes, "base64");
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, stored(field)]));
}
