/**
 * Sends the commits of docs/vectors.json over REST, as a client for another platform would, and compares the web client's
 * own writes with them.
 */
import { readFileSync } from "node:fs";
import { Firestore, Timestamp } from "firebase-admin/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIRECT, groupOf, type IncrementPlan, planIncrement, randomShard } from "../../core/src/index.ts";
import { type CommitVector, type DirectPlan, type Plan, readVectors } from "../../mobile/conformance/cases.ts";
import { loadRules } from "../../testkit/rules.ts";
import { unsignedToken } from "./rest.ts";

const PROJECT = `demo-tally-vectors-${process.pid}`;
const host = process.env.FIRESTORE_EMULATOR_HOST as string;
const vectors = readVectors().commits;
const admin = new Firestore({ projectId: PROJECT });

/** What counter documents have before a commit. */
interface StoredTotal {
  readonly total?: number;
  readonly direct?: { readonly count: number };
}

beforeAll(() => loadRules(PROJECT, readFileSync("firestore.rules", "utf8")));
afterAll(() => admin.terminate());

test.each(vectors)("$name", async ({ auth, before, commit, expect: expected }) => {
  await clear();
  for (const { path, ...fields } of before) await admin.doc(path).set(stored(fields) as object);
  const response = await send(commit, auth);
  expect(response.status, await response.text()).toBe(expected.accepted ? 200 : 403);
  const id = /counters\/([^/"]+)/.exec(JSON.stringify(commit))?.[1];
  const counter = await admin.doc(`counters/${id}`).get();
  const shards = await admin.collection(`counters/${id}/shards`).get();
  const sum = shards.docs.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0);
  expect(sum + (counter.get("direct.count") ?? 0)).toBe(expected.sum);
  // What is on shards joins the total with the next publish.
  const { total, direct } = (before.find(({ path }) => path === `counters/${id}`) ?? {}) as StoredTotal;
  const added = (counter.get("direct.count") ?? 0) - (direct?.count ?? 0);
  if (counter.exists) expect(counter.get("total")).toBe((total ?? 0) + added);
});

const planned = vectors.flatMap(({ name, plan, commit }) => (plan ? [{ name, plan, commit }] : []));

test.each(planned)("the web client plans this commit: $name", ({ plan, commit }) => {
  expect(commit.writes).toEqual(webWrites(plan));
});

const directlyPlanned = vectors.flatMap(({ name, directPlan, commit }) =>
  directPlan ? [{ name, directPlan, commit }] : [],
);

test.each(directlyPlanned)("the web client plans this commit: $name", ({ directPlan, commit }) => {
  expect(commit.writes).toEqual(directWrites(directPlan));
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
    (shard === DIRECT ? "0" : shard) ?? randomShard(shardsToChooseFrom, next),
    call === "undo" ? -by : by,
    now,
    next,
    once,
  );
  const write = {
    update: { name: name(plan.path), fields: { shard: { stringValue: plan.shard } } },
    updateMask: { fieldPaths: ["shard", ...(removesMarks ? [`marks.\`${plan.expired}\``] : [])] },
    updateTransforms: [added("count", plan.by), added("writes", 1), AT, ...marked("marks", plan)],
  };
  return [...entryWrites(call, plan, once), write];
}

/** The same of a direct increment. */
function directWrites({ call, counter, by, once, generation, isNew = false, random }: DirectPlan): object[] {
  const numbers = [...random];
  const next = () => numbers.shift() ?? Number.NaN;
  const plan = planIncrement(counter, generation, call === "undo" ? -by : by, 0, next, once);
  const parts = { ...(isNew && { open: { booleanValue: true } }), generation: { integerValue: String(generation) } };
  const group = isNew && { group: { stringValue: groupOf(counter.slice(counter.indexOf("/") + 1)) } };
  const write = {
    update: { name: name(plan.path), fields: { ...group, direct: { mapValue: { fields: parts } } } },
    updateMask: {
      fieldPaths: [
        ...Object.keys(group || {}),
        ...Object.keys(parts).map((part) => `direct.${part}`),
        `direct.marks.\`${plan.expired}\``,
      ],
    },
    updateTransforms: [
      added("total", plan.by),
      added("direct.count", plan.by),
      added("direct.writes", 1),
      ...marked("direct.marks", plan),
    ],
  };
  return [...entryWrites(call, plan, once), write];
}

function entryWrites(call: Plan["call"], { entry, by, shard }: IncrementPlan, once = ""): object[] {
  if (!entry) return [];
  if (call === "undo") return [{ delete: name(entry) }];
  const fields = { once: { stringValue: once }, by: { integerValue: String(by) }, shard: { stringValue: shard } };
  return [{ update: { name: name(entry), fields }, updateTransforms: [AT] }];
}

const AT = { fieldPath: "at", setToServerValue: "REQUEST_TIME" };
const name = (path: string) => `projects/{project}/databases/(default)/documents/${path}`;
const added = (fieldPath: string, by: number) => ({ fieldPath, increment: { integerValue: String(by) } });
const marked = (marks: string, { slot, nonce }: IncrementPlan) => [
  { fieldPath: `${marks}.\`${slot}\`.at`, setToServerValue: "REQUEST_TIME" },
  {
    fieldPath: `${marks}.\`${slot}\`.nonces`,
    appendMissingElements: { values: [{ bytesValue: Buffer.from(nonce).toString("base64") }] },
  },
];

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
