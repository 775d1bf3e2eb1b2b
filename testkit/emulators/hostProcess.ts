/**
 * A process that hosts the built functions of the plain codebase (hostedFunctions.ts): registers their triggers with the emulators, as
 * the Functions emulator does, and runs each request in Google's Functions Framework. It writes the lines of the Functions emulator
 * that `deployedFunctions.ts` looks for.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { cloudEvent, http } from "@google-cloud/functions-framework";
import { getTestServer } from "@google-cloud/functions-framework/testing";

const {
  GCLOUD_PROJECT: project,
  FIRESTORE_EMULATOR_HOST,
  CLOUD_TASKS_EMULATOR_HOST,
  TALLY_FUNCTIONS_HOST,
} = process.env;
const REGION = "us-central1";

/** A parameter has its value when it is asked for. */
type Text = string | { value(): string };
const textOf = (text: Text) => (typeof text === "string" ? text : text.value());

/** What firebase-functions tells of a function, as far as it is used here. */
interface Endpoint {
  /** Whether the parameters leave the function out. */
  readonly omit?: boolean | { value(): boolean };
  readonly eventTrigger?: {
    readonly eventType: string;
    readonly eventFilters: Readonly<Record<string, Text>>;
    readonly eventFilterPathPatterns?: Readonly<Record<string, Text>>;
  };
  readonly taskQueueTrigger?: { readonly retryConfig: object; readonly rateLimits: object };
}
// biome-ignore lint/suspicious/noExplicitAny: handlers of events and of requests
type DeployedFunction = ((...args: any[]) => unknown) & { readonly __endpoint: Endpoint };

// With the port: names of built files are no part of the sources that are type-checked.
const built = new URL("../../functions/lib/index.js", import.meta.url).href;
const { tally } = (await import(built)) as { tally: Readonly<Record<string, DeployedFunction>> };

const servers = new Map<string, Server>();
const isOmitted = ({ omit }: Endpoint) => (typeof omit === "object" ? omit.value() : omit);
const deployedFunctions = Object.entries(tally).filter(([, { __endpoint }]) => !isOmitted(__endpoint));
for (const [name, deployed] of deployedFunctions) {
  if (deployed.__endpoint.eventTrigger) cloudEvent(name, deployed);
  else http(name, deployed);
  servers.set(name, getTestServer(name));
}

/** `/functions/projects/P/triggers/us-central1-tally-wake-0` of an event, or `/P/us-central1/tally-ingest` of a request. */
const FUNCTION_IN_PATH = new RegExp(`/${REGION}[-/]tally-([a-z]+)(-0)?($|[/?])`);

const listener: RequestListener = async (request, response) => {
  const name = FUNCTION_IN_PATH.exec(request.url ?? "")?.[1] ?? "";
  const server = servers.get(name);
  if (!server) return void response.writeHead(404).end();
  const start = performance.now();
  console.log(`Beginning execution of "${REGION}-tally-${name}"`);
  response.once("close", () => {
    console.log(`Finished "${REGION}-tally-${name}" in ${performance.now() - start}ms`);
  });
  // The emulator of Firestore encodes its events, which Eventarc does not. A parser leaves a body alone that is marked as read.
  if (request.headers["content-type"] === "application/protobuf") {
    Object.assign(request, { body: Buffer.from(await text(request), "base64"), _body: true });
  }
  server.emit("request", request, response);
};

const server = createServer(listener).listen(0, "127.0.0.1", async () => {
  await Promise.all(deployedFunctions.map(([name, { __endpoint }]) => register(name, __endpoint)));
  process.send?.({ port: (server.address() as AddressInfo).port });
});
// It ends with the process that started it.
process.once("disconnect", () => process.exit());

async function register(name: string, { eventTrigger, taskQueueTrigger }: Endpoint): Promise<void> {
  const id = `${REGION}-tally-${name}-0`;
  if (eventTrigger?.eventType.startsWith("google.cloud.firestore")) {
    const { database, namespace, document } = { ...eventTrigger.eventFilters, ...eventTrigger.eventFilterPathPatterns };
    await post(
      `http://${FIRESTORE_EMULATOR_HOST}/emulator/v1/projects/${project}/eventarcTrigger?eventarcTriggerId=${id}`,
      {
        eventType: eventTrigger.eventType,
        database: textOf(database as Text),
        namespace: textOf(namespace as Text),
        document: { value: textOf(document as Text), matchType: "PATH_PATTERN" },
      },
    );
  }
  if (taskQueueTrigger) {
    const { retryConfig, rateLimits } = taskQueueTrigger;
    const defaultUri = `http://${TALLY_FUNCTIONS_HOST}/functions/projects/${project}/triggers/${id}`;
    const queue = `projects/${project}/locations/${REGION}/queues/tally-${name}`;
    await post(`http://${CLOUD_TASKS_EMULATOR_HOST}/${queue}`, { retryConfig, rateLimits, defaultUri });
  }
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
}
