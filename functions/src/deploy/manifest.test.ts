import { readdirSync, readFileSync } from "node:fs";
import { Expression } from "firebase-functions/params";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { MARK_LIFETIME_SECONDS, parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "../counter/cause.ts";
import { validConfig } from "../deploy/config.ts";
import { DRIFT_EVENT } from "../features/reconcile/alarm.ts";
import { parseIngestConfig } from "../ingest/config.ts";
import { DEFAULT_CONFIG as defaults } from "./defaultConfig.ts";
import { NOT_IN_EXTENSION, params } from "./parameters.ts";
import { DEFAULT_PARAMETERS, parseConfig } from "./parseConfig.ts";

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = parse(text("../../../extension.yaml"));
const typeOf = (name: string) => manifest.resources.find((one: { name: string }) => one.name === name).type;
const resource = (name: string) => manifest.resources.find((one: { name: string }) => one.name === name).properties;

interface Endpoint {
  readonly [option: string]: unknown;
  readonly taskQueueTrigger?: object;
  readonly eventTrigger?: {
    readonly eventType: string;
    readonly eventFilters: Readonly<Record<string, unknown>>;
    readonly eventFilterPathPatterns?: Readonly<Record<string, unknown>>;
    readonly retry: boolean;
  };
}

/** What firebase-functions tells of each function of a plain codebase or a kit. */
async function endpoints(): Promise<Readonly<Record<string, Endpoint>>> {
  vi.stubEnv("EXT_INSTANCE_ID", undefined);
  const functions = Object.entries(await import("./triggers.ts"));
  return Object.fromEntries(
    functions.map(([name, deployed]) => [name, (deployed as unknown as { __endpoint: Endpoint }).__endpoint]),
  );
}

afterEach(() => vi.unstubAllEnvs());

describe("the extension and the function kit are the same", () => {
  type Param = {
    param: string;
    label: string;
    description: string;
    default: string;
    validationRegex?: string;
    type?: string;
  };
  // The extension's alone: only a manifest must name the region of the trigger.
  const declared: Param[] = manifest.params.filter(({ param }: Param) => param !== "DATABASE_REGION");
  const shared = Object.values(params).filter(({ name }) => !NOT_IN_EXTENSION.includes(name));

  test("the same parameters, in name, description and default", () => {
    const told = declared.map(({ param, description, default: value }) => [param, description, value]);
    const defined = shared.map(({ name, options }) => [name, options.description, String(options.default)]);
    expect(defined).toEqual(told);
    expect(manifest.params).toHaveLength(declared.length + 1);
  });

  const checkOf = (name: string) => new RegExp(declared.find(({ param }) => param === name)?.validationRegex ?? "^$");

  test("the same check where text is entered, and every default passes its own", () => {
    for (const { options, name } of shared) {
      const { param: _, label: __, description: ___, ...rest } = declared.find(({ param }) => param === name) as Param;
      // The console lists regions instead.
      if (options.input && "text" in options.input && rest.type !== "select")
        expect(rest).toMatchObject(options.input.text);
      expect(String(options.default)).toMatch(new RegExp(rest.validationRegex ?? ""));
    }
  });

  /** Of each number: what is just too little, the least and the most that is accepted, and what is just too much. */
  const ranges: readonly (readonly [name: string, ...values: string[]])[] = [
    ["MIN_INTERVAL_SECONDS", "0", "1", "3000", "3001"],
    ["MAX_INTERVAL_SECONDS", "0", "1", "3000", "3001"],
    ["PRECISION", "-0.1", "0", "1", "1.01"],
    ["MIN_SHARDS", "0", "1", "10000", "10001"],
    ["MAX_SHARDS", "0", "1", "10000", "10001"],
    ["WRITES_PER_SHARD", "0.009", "0.01", "1000", "1000.1"],
    ["SHRINK_COOLDOWN_SECONDS", "119", "120", "86400", "86401"],
    ["HISTORY_DAYS", "0", "1", "3650", "3651"],
    ["EXCHANGE_SECONDS", "0", "1", "3000", "3001"],
    ["INGEST_MAX_AMOUNT", "0", "1", "1000000", "1000001"],
    ["INGEST_AMOUNT_PER_SECOND", "0", "1", "1000000", "1000001"],
  ];

  test.each(ranges)("the manifest's check of %s refuses what the functions refuse, at both ends", (name, ...values) => {
    const isValid = (value: string) => {
      const all = { ...DEFAULT_PARAMETERS, MAX_INTERVAL_SECONDS: "3000", [name]: value };
      try {
        return [parseConfig(all), parseIngestConfig(all)].length > 0;
      } catch {
        return false;
      }
    };
    expect(values.map(isValid)).toEqual([false, true, true, false]);
    expect(values.map((value) => checkOf(name).test(value))).toEqual([false, true, true, false]);
  });

  test("every number has a range", () => {
    const numbers = Object.entries(DEFAULT_PARAMETERS).filter(([, value]) => /^\d/.test(value));
    expect(numbers.map(([name]) => name)).toEqual(ranges.map(([name]) => name));
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

  test("the manifest's check of seconds accepts what the functions accept", () => {
    const seconds = ["shrinkCooldown", "minInterval", "maxInterval"] as const;
    for (const field of seconds) {
      const { name } = params[`${field}Seconds`];
      const check = new RegExp(declared.find(({ param }) => param === name)?.validationRegex ?? "^$");
      const widest = { ...defaults, minInterval: 1_000, maxInterval: MAX_TASK_DELAY };
      for (let value = 0; value <= 90_000; value++) {
        const isValid = value >= (field === "shrinkCooldown" ? MARK_LIFETIME_SECONDS : 1);
        const isAccepted = isValid && value <= (field === "shrinkCooldown" ? 86_400 : MAX_TASK_DELAY / 1_000);
        if (check.test(String(value)) !== isAccepted)
          expect(`${name}=${value}`).toBe(isAccepted ? "accepted" : "refused");
        if (isAccepted && value % 997 === 0)
          expect(() => validConfig({ ...widest, [field]: value * 1_000 })).not.toThrow();
      }
    }
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

  const source = text("./triggers.ts");

  test("the same functions, except that of ADOPTED", async () => {
    const declaredNames: string[] = manifest.resources.map(({ name }: { name: string }) => name);
    // See NOT_IN_EXTENSION.
    expect(Object.keys(await endpoints()).toSorted()).toEqual([...declaredNames, "shardupdated"].toSorted());
  });

  test.each<string>(
    manifest.resources
      .filter(({ type }: { type: string }) => type.endsWith("v2function"))
      .map(({ name }: { name: string }) => name),
  )("the same trigger and retries: %s", async (name) => {
    const { eventType, eventFilters, eventFilterPathPatterns, retry } = (await endpoints())[name]?.eventTrigger ?? {};
    const filters = { ...eventFilters, ...eventFilterPathPatterns };
    const written = (value: unknown) =>
      (value instanceof Expression ? value.toCEL() : String(value)).replaceAll(
        /\{\{ params\.(\w+) \}\}/g,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the manifest's
        "${param:$1}",
      );
    const { triggerRegion: _, retryPolicy, ...declared } = resource(name).eventTrigger;
    expect({
      eventType,
      eventFilters: ["database", "document"].map((attribute) => ({
        attribute,
        value: written(filters[attribute]),
        ...(attribute === "document" && { operator: "match-path-pattern" }),
      })),
    }).toEqual(declared);
    expect([retry, retryPolicy]).toEqual([true, "RETRY_POLICY_RETRY"]);
  });

  test("the same retries and rates of tasks, the same schedule and time limit of a sweep", () => {
    const numbersOf = (name: string) => {
      const [, literal = ""] = new RegExp(`${name} = \\{(.+)\\}`).exec(source) ?? [];
      return Object.fromEntries([...literal.matchAll(/(\w+): (\d+)/g)].map(([, key, n]) => [key, Number(n)]));
    };
    for (const name of ["aggregate", "merge", "exchange"]) {
      const { retryConfig, rateLimits } = resource(name).taskQueueTrigger;
      expect({ retryConfig, rateLimits }, name).toEqual({
        retryConfig: numbersOf("retryConfig"),
        rateLimits: numbersOf("rateLimits"),
      });
    }
    expect(resource("sweep").scheduleTrigger.schedule).toBe(/schedule = "(.+)"/.exec(source)?.[1]);
    expect(resource("sweep").timeout).toBe(`${/timeoutSeconds: (\d+)/.exec(source)?.[1]}s`);
  });
});

test("in a plain codebase and a kit every function has the region and the bounds of the parameters", async () => {
  for (const [name, endpoint] of Object.entries(await endpoints())) {
    // Requests and messages share commits and reads, and wait for them most of the time.
    const concurrency = /^(ingest|totals)/.test(name) ? 200 : 20;
    expect(endpoint, name).toMatchObject({ platform: "gcfv2", concurrency, availableMemoryMb: 512 });
    expect([endpoint.region].flat(), name).toEqual([params.location]);
    expect(endpoint.maxInstances, name).toBe(params.maxInstances);
    const isOnTheWay = ["shardcreated", "shardzeroupdated", "baseupdated", "aggregate"].includes(name);
    if (isOnTheWay) expect(endpoint.minInstances, name).toBe(params.minInstances);
    else expect(endpoint.minInstances, name).not.toBe(params.minInstances);
    if (!["aggregate", "merge", "exchange"].includes(name)) continue;
    const { retryConfig, rateLimits } = resource(name).taskQueueTrigger;
    expect(endpoint.taskQueueTrigger).toMatchObject({ retryConfig, rateLimits });
  }
});
