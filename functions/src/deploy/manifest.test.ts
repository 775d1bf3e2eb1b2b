import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { DRIFT_EVENT } from "../features/reconcile/alarm.ts";
import { textParam, wholeParam } from "./cliParams.ts";
import { PARAMETERS } from "./parameters.ts";
import { RATE_LIMITS, RETRY_CONFIG } from "./taskLimits.ts";

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = parse(text("../../../extension.yaml"));
const typeOf = (name: string) => manifest.resources.find((one: { name: string }) => one.name === name).type;
const NOT_IN_EXTENSION = Object.keys(PARAMETERS).filter((name) => PARAMETERS[name]?.isNotInExtension);

interface Endpoint {
  readonly [option: string]: unknown;
  readonly taskQueueTrigger?: object;
  readonly eventTrigger?: { readonly retry: boolean };
}

/** What firebase-functions tells of each function of a plain codebase or a kit. */
async function endpoints(): Promise<Readonly<Record<string, Endpoint>>> {
  vi.stubEnv("EXT_INSTANCE_ID", undefined);
  const functions = Object.entries((await import("./triggers.ts")).functions);
  return Object.fromEntries(
    functions.map(([name, deployed]) => [name, (deployed as unknown as { __endpoint: Endpoint }).__endpoint]),
  );
}

afterEach(() => vi.unstubAllEnvs());

describe("the manifest of the extension", () => {
  type Param = { param: string; default: string; validationRegex?: string };
  const declared: Param[] = manifest.params;
  const checkOf = (name: string) => new RegExp(declared.find(({ param }) => param === name)?.validationRegex ?? "^$");

  const numbers = Object.entries(PARAMETERS).filter(
    ([name, { range }]) => range && declared.some(({ param }) => param === name),
  );

  test.each(numbers)(
    "the manifest's check of %s refuses what the functions refuse (config.test.ts), at both ends",
    (name, { range = [0, 0], pattern }) => {
      const [from, to] = range;
      const step = pattern === undefined ? 1 : 0.001;
      const values = [from - step, from, to, to + step].map((value) => `${Math.round(1_000 * value) / 1_000}`);
      expect(values.map((value) => checkOf(name).test(value))).toEqual([false, true, true, false]);
    },
  );

  test("the check of every parameter accepts its default", () => {
    for (const { param, default: value, validationRegex = "" } of declared)
      expect(value, param).toMatch(new RegExp(validationRegex));
  });

  test("the checks of decimals have no gap", () => {
    for (const value of ["0.05", "0.1", "0.25", "1.5", "10", "99.75", "999.9", "1000.0"])
      expect(value).toMatch(checkOf("WRITES_PER_SHARD"));
    for (const value of ["0.001", "0.0", "0.5", "1.0"]) expect(value).toMatch(checkOf("PRECISION"));
  });

  test("the extension offers the regions that have 1st-generation functions, and no other", () => {
    // https://cloud.google.com/functions/1stgendocs/locations
    const firstGeneration = [
      ...["asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2", "europe-west1", "europe-west2"],
      ...["us-central1", "us-east1", "us-east4", "us-west1", "asia-northeast3", "asia-southeast1", "asia-southeast2"],
      ...["asia-south1", "australia-southeast1", "europe-central2", "europe-west3", "europe-west6"],
      ...["northamerica-northeast1", "southamerica-east1", "us-west2", "us-west3", "us-west4"],
    ];
    const { options } = manifest.params.find(({ param }: Param) => param === "LOCATION");
    const offered: string[] = options.map(({ value }: { value: string }) => value);
    expect(offered.toSorted()).toEqual(firstGeneration.toSorted());
    expect(["aggregate", "merge", "exchange", "sweep"].map((name) => typeOf(name))).toEqual(
      Array(4).fill("firebaseextensions.v1beta.function"),
    );
  });

  test.each(["PREINSTALL.md", "POSTINSTALL.md"])("%s names no parameter that the extension does not have", (file) => {
    const known = [...manifest.params.map(({ param }: Param) => param), "EXT_INSTANCE_ID", ...NOT_IN_EXTENSION];
    const names = [...text(`../../../${file}`).matchAll(/\$\{param:(\w+)\}|`([A-Z]+(?:_[A-Z]+)*)`/g)];
    expect(names.length).toBeGreaterThan(3);
    for (const [, substituted, told] of names) expect(known).toContain(substituted ?? told);
  });

  test.each(["PREINSTALL.md", "POSTINSTALL.md"])(
    "%s names the collection ids of the exemptions that may be the app's own: all others begin with tally",
    (file) => {
      const { fieldOverrides } = JSON.parse(text("../../../firestore.indexes.json"));
      const [, list = ""] = /every collection named ([^.]+), yours included\./.exec(text(`../../../${file}`)) ?? [];
      const named = [...list.matchAll(/`(\w+)`/g)].map(([, id]) => id);
      const ids: string[] = fieldOverrides.map(({ collectionGroup }: { collectionGroup: string }) => collectionGroup);
      expect(new Set(named)).toEqual(new Set(ids.filter((id) => !/^tally[A-Z]/.test(id))));
    },
  );

  test("PREINSTALL.md says how many roles the extension has", () => {
    const number = ["no", "one", "two", "three", "four", "five"][manifest.roles.length];
    expect(text("../../../PREINSTALL.md")).toContain(`with the ${number} roles listed below`);
  });

  test("POSTINSTALL.md names every function", () => {
    const document = text("../../../POSTINSTALL.md");
    for (const { name } of manifest.resources) expect(document).toContain(`-${name}\``);
  });

  test("POSTINSTALL.md explains each line that the functions log", () => {
    const document = text("../../../POSTINSTALL.md").replace(/\s+/g, " ");
    const all = readdirSync(new URL("..", import.meta.url), { recursive: true, encoding: "utf8" });
    const sources = all.filter((file) => /(?<!\.test)\.ts$/.test(file));
    const logged = sources.flatMap((file) => [
      ...text(`../${file}`).matchAll(/(?:logError\(|logger\.\w+\(|message =|missing:|incomplete:)\s*"([^":;,]+)/g),
    ]);
    // The task queue takes the place of timers in production.
    const messages = logged.map(([, message = ""]) => message).filter((one) => one !== "a task failed");
    expect(messages.length).toBeGreaterThan(9);
    for (const message of messages) expect(document).toContain(`\`${message}`);
  });

  test("the event that is published is declared", () => {
    expect(manifest.events.map(({ type }: { type: string }) => type)).toEqual([DRIFT_EVENT]);
  });

  test("the manifest's check accepts what is a valid path, and a valid list of mirrors", () => {
    const paths = ["posts", "posts/{post}/comments", "a/{x}/b/{y}/c"];
    const lists = [
      "",
      "likes=posts/{name}.likes",
      "likes=posts/{name}.likes, views=a/{name}.b.c,posts=site/home.posts",
    ];
    for (const path of paths) expect(parseCountedCollection(path)?.join("/")).toBe(path);
    for (const path of paths) expect(path).toMatch(checkOf("COUNTED_COLLECTION"));
    for (const list of lists) expect(parseMirrors(list, "MIRRORS")).toHaveLength(list ? list.split(",").length : 0);
    const nested = "likes:{user}:{post}=users/{user}/posts/{post}.likes";
    expect(parseMirrors(nested, "BRIDGE")).toHaveLength(1);
    for (const list of [...lists, nested]) expect(list).toMatch(checkOf("MIRRORS"));
    for (const list of [...lists, nested]) expect(list).toMatch(checkOf("BRIDGE"));
    for (const path of ["posts/{post}", "/posts", "posts/"]) expect(path).not.toMatch(checkOf("COUNTED_COLLECTION"));
    for (const list of ["likes", "likes=posts", "a=b.c,"]) expect(list).not.toMatch(checkOf("MIRRORS"));
  });
});

test("in a plain codebase and a kit every function has the region and the bounds of the parameters", async () => {
  for (const [name, endpoint] of Object.entries(await endpoints())) {
    // Requests and messages share commits and reads, and wait for them most of the time.
    const concurrency = /^(ingest|totals)/.test(name) ? 200 : 20;
    expect(endpoint, name).toMatchObject({ platform: "gcfv2", concurrency, availableMemoryMb: 512 });
    expect([endpoint.region].flat(), name).toEqual([textParam("LOCATION")]);
    expect(endpoint.maxInstances, name).toBe(wholeParam("MAX_INSTANCES"));
    const hasMinInstances = ["shardcreated", "shardzeroupdated", "baseupdated", "aggregate"].includes(name);
    if (hasMinInstances) expect(endpoint.minInstances, name).toBe(wholeParam("MIN_INSTANCES"));
    else expect(endpoint.minInstances, name).not.toBe(wholeParam("MIN_INSTANCES"));
    if (["aggregate", "merge", "exchange"].includes(name))
      expect(endpoint.taskQueueTrigger).toMatchObject({ retryConfig: RETRY_CONFIG, rateLimits: RATE_LIMITS });
    if (endpoint.eventTrigger) expect(endpoint.eventTrigger.retry, name).toBe(true);
  }
});
