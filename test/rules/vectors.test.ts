/**
 * Sends the commits of docs/vectors.json over REST, as a client for another platform would, and compares the web client's
 * own writes with them.
 */
import { readFileSync } from "node:fs";
import { Firestore, Timestamp } from "firebase-admin/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planIncrement, randomShard } from "../../core/src/index.ts";
import { type CommitVector, type Plan, readVectors } from "../../mobile/conformance/cases.ts";
import { loadRules } from "../../testkit/rules.ts";
import { unsignedToken } from "./rest.ts";

const PROJECT = `demo-tally-vectors-${process.pid}`;
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const vectors = readVectors().commits;
const admin = new Firestore({ projectId: PROJECT });

beforeAll(() => loadRules(PROJECT, readFileSync("firestore.rules", "utf8")));
afterAll(() => admin.terminate());

test.each(vectors)("$name", async ({ auth, before, commit, expect: expected }) => {
  await clear();
  for (const { path, ...fields } of before) await admin.doc(path).set(stored(fields) as object);
  const response = await send(commit, auth);
  expect(response.status, await response.text()).toBe(expected.accepted ? 200 : 403);
  const counter = /counters\/([^/]+)\//.exec(JSON.stringify(commit))?.[1];
  const shards = await admin.collection(`counters/${counter}/shards`).get();
  expect(shards.docs.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0)).toBe(expected.sum);
});

const planned = vectors.flatMap(({ name, plan, commit }) => (plan ? [{ name, plan, commit }] : []));

test.each(planned)("the web client plans this commit: $name", ({ plan, commit }) => {
  expect(commit.writes).toEqual(webWrites(plan));
});

test("increments, increments with `once` and undos are planned, each also with a removal of marks", () => {
  const kinds = planned.map(
    ({ plan: { call, once, removesMarks } }) =>
      `${call}${once ? " with `once`" : ""}${removesMarks ? " that removes marks" : ""}`,
  );
  const calls = ["increment", "increment with `once`", "undo with `once`"];
  expect(new Set(kinds)).toEqual(new Set([...calls, ...calls.map((call) => `${call} that removes marks`)]));
});

/** What `client/src/web/commit.ts` writes, in REST. */
function webWrites({
  call,
  counter,
  by,
  once,
  shardsToChooseFrom = 0,
  shard,
  now,
  random,
  removesMarks,
}: Plan): object[] {
  const numbers = [...random];
  const next = () => numbers.shift() ?? Number.NaN;
  const plan = planIncrement(
    counter,
    shard ?? randomShard(shardsToChooseFrom, next),
    call === "undo" ? -by : by,
    now,
    next,
    once,
  );
  const name = (path: string) => `projects/{project}/databases/(default)/documents/${path}`;
  const at = { fieldPath: "at", setToServerValue: "REQUEST_TIME" };
  const entry = plan.entry && {
    update: {
      name: name(plan.entry),
      fields: {
        once: { stringValue: String(once) },
        by: { integerValue: String(plan.by) },
        shard: { stringValue: plan.shard },
      },
    },
    updateTransforms: [at],
  };
  const write = {
    update: { name: name(plan.path), fields: { shard: { stringValue: plan.shard } } },
    updateMask: { fieldPaths: ["shard", ...(removesMarks ? [`marks.\`${plan.expired}\``] : [])] },
    updateTransforms: [
      { fieldPath: "count", increment: { integerValue: String(plan.by) } },
      { fieldPath: "writes", increment: { integerValue: "1" } },
      at,
      { fieldPath: `marks.\`${plan.window}\`.at`, setToServerValue: "REQUEST_TIME" },
      {
        fieldPath: `marks.\`${plan.window}\`.nonces`,
        appendMissingElements: { values: [{ bytesValue: Buffer.from(plan.nonce).toString("base64") }] },
      },
    ],
  };
  if (!plan.entry) return [write];
  return [call === "undo" ? { delete: name(plan.entry) } : (entry as object), write];
}

test("I5: a server's commit with a receipt counts once when it is sent several times", async () => {
  await clear();
  const { commit, auth } = vectors.find(({ auth }) => auth === "server") as CommitVector;
  const statuses: number[] = [];
  for (let n = 0; n < 3; n++) statuses.push((await send(commit, auth)).status);
  expect(statuses).toEqual([200, 409, 409]);
  const shards = await admin.collection("counters/downloads:setup/shards").get();
  expect(shards.docs.map((shard) => [shard.id, shard.get("count"), shard.get("writes")])).toEqual([["3", 1, 1]]);
});

async function clear(): Promise<void> {
  const documents = `http://${host}/emulator/v1/projects/${PROJECT}/databases/(default)/documents`;
  expect((await fetch(documents, { method: "DELETE" })).status).toBe(200);
}

async function send(commit: CommitVector["commit"], auth: CommitVector["auth"]): Promise<Response> {
  const token = auth === "server" ? "owner" : auth && unsignedToken(PROJECT, auth);
  return await fetch(`http://${host}/v1/projects/${PROJECT}/databases/(default)/documents:commit`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(commit).replaceAll("{project}", PROJECT),
  });
}

/** Fields as the Admin SDK stores them. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== "object" || value === null) return value;
  const { secondsAgo, bytes } = value as { secondsAgo?: number; bytes?: string };
  if (secondsAgo !== undefined) return Timestamp.fromMillis(Date.now() - secondsAgo * 1_000);
  if (bytes !== undefined) return Buffer.from(bytes, "base64");
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, stored(field)]));
}
