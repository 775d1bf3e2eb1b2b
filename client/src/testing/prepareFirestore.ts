/** Prepares Firestore's emulator for the tests of an app: loads the rules, and waits for totals. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { CounterError, isCount } from "../../../core/src/index.ts";
import { readAppRules } from "./appRules.ts";
import { type DatabaseOfCounter, databaseOf } from "./databaseOf.ts";

/** The emulator and the rules. */
export interface PrepareFirestoreOptions {
  /** The project of the emulator. Default: `GCLOUD_PROJECT`, which `firebase emulators:exec` sets. */
  projectId?: string | undefined;
  /** `host:port` of the emulator. Default: `FIRESTORE_EMULATOR_HOST`, which `firebase emulators:exec` sets. */
  host?: string | undefined;
  /** The database of the counters. Default: `(default)`. */
  database?: string | undefined;
  /**
   * The text of the rules, which then hold in all databases of the project: the emulator has one set for all. Default: the file that
   * the nearest `firebase.json` names for the database, from the working folder upwards.
   */
  rules?: string | undefined;
  /** Loads the rules of this package, as they were published, instead of the app's. */
  packageRules?: boolean | undefined;
}

/** A Firestore emulator with the rules loaded. */
export interface TestFirestore {
  /** `host:port` */
  readonly host: string;
  /** The project of the emulator. */
  readonly projectId: string;
  /**
   * Waits until the total of a counter has all its increments, those on shards and those in its document. A counter without
   * increments is settled at 0. Increments on shards need the functions, which must be loaded in the emulator, too. Not for a counter that
   * counts a collection, because its shards do not have the documents.
   *
   * @param counter - a reference of the web or the server SDK, or a path in the prepared database
   * @returns the total
   * @throws CounterError `counter/emulator` after `timeout` milliseconds, default 10,000; the message has the sum and the
   *         total. Give your test more time than that: the first start of the functions takes seconds. Also for a counter of another
   *         project or database
   */
  settled(
    counter: { readonly path: string; readonly firestore?: object | undefined },
    timeout?: number,
  ): Promise<number>;
  /** Deletes every document of the database. */
  clear(): Promise<void>;
}

type RestFields = Record<string, RestValue>;

interface RestValue {
  integerValue?: string;
  doubleValue?: number;
  timestampValue?: string;
  mapValue?: { fields?: RestFields };
}

interface RestDocument {
  fields?: RestFields;
  updateTime: string;
}

interface Listing {
  documents?: RestDocument[];
  nextPageToken?: string;
}

/**
 * Prepares Firestore's emulator for tests: loads the app's own rules, so that a test fails where they refuse. The emulator needs no
 * indexes; `firestore.indexes.json` of this package is for production.
 *
 * @throws CounterError `counter/emulator` if there is no emulator, no `firebase.json` names the rules, or they do not compile
 *
 * @example
 * ```ts
 * const firestore = await prepareFirestore();
 * await incrementCounter(views);
 * expect(await firestore.settled(views)).toBe(1);
 * ```
 */
export async function prepareFirestore(options: PrepareFirestoreOptions = {}): Promise<TestFirestore> {
  const { GCLOUD_PROJECT, FIRESTORE_EMULATOR_HOST } = process.env;
  const { projectId = GCLOUD_PROJECT, host = FIRESTORE_EMULATOR_HOST, database = "(default)" } = options;
  if (!projectId || !host) {
    throw refuse(
      `${projectId ? "FIRESTORE_EMULATOR_HOST" : "GCLOUD_PROJECT"} is not set; run the tests with ` +
        '`firebase emulators:exec "…"`, or pass { host, projectId }',
    );
  }
  const content = rulesOf(options, database);
  const emulator = `http://${host}/emulator/v1/projects/${projectId}`;
  const documents = `http://${host}/v1/projects/${projectId}/databases/${database}/documents`;
  await call("PUT", `${emulator}:securityRules`, { rules: { files: [{ name: "firestore.rules", content }] } });

  /** @returns the sum, and when a shard was last written, `""` if there is none */
  async function sumOfShards(path: string): Promise<{ sum: number; lastWrite: string }> {
    let sum = 0;
    let lastWrite = "";
    let page = "";
    do {
      const listed = await call<Listing>("GET", `${documents}/${encode(path)}/shards?pageSize=300&pageToken=${page}`);
      for (const { fields, updateTime } of listed.documents ?? []) {
        const count = numberOf(fields?.count);
        if (isCount(count)) sum += count ?? 0;
        if (updateTime > lastWrite) lastWrite = updateTime;
      }
      page = encodeURIComponent(listed.nextPageToken ?? "");
    } while (page);
    return { sum, lastWrite };
  }

  return {
    host,
    projectId,
    async settled({ path, firestore }, timeout = 10_000) {
      refuseOther(databaseOf(firestore), { projectId, database });
      const deadline = Date.now() + timeout;
      await sleep(QUERY_LAG);
      for (;;) {
        const { sum: onShards, lastWrite } = await sumOfShards(path);
        const counter = await call<RestDocument>("GET", `${documents}/${encode(path)}`).catch(() => undefined);
        const total = numberOf(counter?.fields?.total);
        const sum = onShards + (numberOf(counter?.fields?.direct?.mapValue?.fields?.count) ?? 0);
        const asOf = Date.parse(counter?.fields?.asOf?.timestampValue ?? "");
        if (total === sum && (lastWrite === "" || asOf >= Date.parse(lastWrite))) return total;
        if (total === undefined && lastWrite === "") return 0;
        if (Date.now() > deadline) {
          throw new CounterError(
            "counter/emulator",
            `${path} has not settled in ${timeout} ms: its increments sum to ${sum}, its total is ${total ?? "missing"}. Are the ` +
              "functions loaded in the emulator?",
          );
        }
        await sleep(20);
      }
    },
    clear: () => call("DELETE", `${emulator}/databases/${database}/documents`),
  };
}

/** @throws CounterError `counter/emulator` if the counter is in another database than the prepared one */
function refuseOther({ projectId, database }: DatabaseOfCounter, prepared: Required<DatabaseOfCounter>): void {
  const options: string[] = [];
  if (projectId !== undefined && projectId !== prepared.projectId) options.push(`projectId: "${projectId}"`);
  if (database !== undefined && database !== prepared.database) options.push(`database: "${database}"`);
  if (options.length > 0) {
    throw refuse(
      `the counter is not in the database "${prepared.database}" of the project "${prepared.projectId}", which was prepared; pass ` +
        `{ ${options.join(", ")} } to prepareFirestore`,
    );
  }
}

function rulesOf({ rules, packageRules = false }: PrepareFirestoreOptions, database: string): string {
  if (!packageRules) return rules ?? readAppRules(process.cwd(), database);
  if (rules === undefined) return readFileSync(createRequire(import.meta.url).resolve("../firestore.rules"), "utf8");
  throw refuse("both `rules` and `packageRules` are given; pass one of them");
}

/** How many milliseconds ago a write may be that the emulator's lists of documents miss, on a busy machine. */
const QUERY_LAG = 100;

/** Calls the emulator as the owner of the database, so the rules do not apply. */
async function call<T>(method: string, url: string, body?: object): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { authorization: "Bearer owner", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw refuse(`nothing answers at ${new URL(url).host}; start the Firestore emulator`, error);
  });
  if (!response.ok) throw refuse(`${method} ${url} answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

function encode(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function numberOf(value: RestValue | undefined): number | undefined {
  return value && Number(value.integerValue ?? value.doubleValue);
}

function refuse(message: string, cause?: unknown): CounterError {
  return new CounterError("counter/emulator", message, cause);
}
