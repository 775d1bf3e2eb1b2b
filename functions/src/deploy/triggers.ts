/**
 * The functions, as firebase-functions defines them, from the plans of the counter and its features. A function whose feature is off is not
 * deployed (`omit`).
 *
 * An extension has all of them, because its manifest lists them. The manifest supports requests, messages, task queues and schedules of the
 * 1st generation only, so there the same handlers are wrapped for it.
 */
import { type Expression, expr } from "firebase-functions/params";
import {
  onDocumentCreated,
  onDocumentDeleted,
  onDocumentUpdated,
  onDocumentWritten,
} from "firebase-functions/v2/firestore";
import type { Backend } from "../counter/backend.ts";
import type { CounterTask } from "../counter/cause.ts";
import type { DocumentEvent, DocumentTrigger, Feature } from "../shared/feature.ts";
import { keepBodies } from "../shared/requestBody.ts";
import { ALL_FEATURES } from "./allFeatures.ts";
import { textParam } from "./cliParams.ts";
import { defineWhereRun, sdk, targetFunction } from "./coldStart.ts";
import { createBackend } from "./createBackend.ts";
import { onDiscovery } from "./discovery.ts";
import { functionOptions, minInstances } from "./functionOptions.ts";
import { type DeclaredFunction, FUNCTIONS } from "./functions.ts";
import { packaging } from "./packaging.ts";
import { PARAMETERS } from "./parameters.ts";
import { runSweep } from "./runSweep.ts";
import { runTask } from "./runTask.ts";
import { RATE_LIMITS, RETRY_CONFIG, SWEEP_TIMEOUT_SECONDS } from "./taskLimits.ts";

let backend: Backend | undefined;

/** Created at the first use. Parameters have no values at import time, and `onInit` does not run for 1st generation tasks. */
function getBackend(): Backend {
  backend ??= createBackend(runTask);
  return backend;
}

/** The handler of an instance, created at the first call: an invalid parameter of one function does not stop the others. */
function handlerOf<Kind extends "onDocument" | "onRequest" | "onMessage">(kind: Kind, name: string) {
  /** What the feature's function that creates a handler returns. */
  type Handler = ReturnType<NonNullable<Feature[Kind]>[string]>;
  let created: Handler | undefined;
  return (): Handler => {
    created ??= ALL_FEATURES.map((feature) => feature[kind]?.[name]).find((one) => one !== undefined)?.(
      getBackend(),
    ) as Handler;
    return created;
  };
}

const isExtension = packaging() === "extension";

onDiscovery(process.env);
// Otherwise the server would inflate each body, however large, before the function runs (requestBody.ts).
if (FUNCTIONS.get(targetFunction() ?? "")?.trigger.on === "request") keepBodies();
const options = functionOptions();

/** Requests and messages are handled many at a time, so that they share commits and reads. The 1st generation has one at a time. */
const SHARED = { ...options, concurrency: 200 } as const;

export const functions = Object.fromEntries([...FUNCTIONS].map(([name, declared]) => [name, define(name, declared)]));

/** `undefined` in a process that runs another function. */
function define(name: string, declared: DeclaredFunction) {
  const { trigger } = declared;
  const omit = isOff(declared.askedForBy);
  const own = { ...options, omit, ...(declared.hasMinInstances && { minInstances: minInstances() }) } as const;
  switch (trigger.on) {
    case "created":
    case "updated":
    case "deleted":
    case "written":
      return onDocument(name, trigger, own);
    case "request":
      return defineWhereRun(name, () => onRequest(name, omit));
    case "message":
      return defineWhereRun(name, () => onMessage(name, trigger.topic, omit));
    case "task":
      return defineWhereRun(name, () =>
        isExtension
          ? sdk("v1/tasks").taskQueue({ retryConfig: RETRY_CONFIG, rateLimits: RATE_LIMITS }).onDispatch(runDispatched)
          : sdk("v2/tasks").onTaskDispatched<CounterTask>(
              { ...own, retryConfig: RETRY_CONFIG, rateLimits: RATE_LIMITS },
              ({ data }) => runDispatched(data),
            ),
      );
    case "schedule": {
      const schedule = `every ${trigger.every}`;
      const sweep = () => runSweep(getBackend());
      return defineWhereRun(name, () =>
        isExtension
          ? sdk("v1/pubsub").schedule(schedule).onRun(sweep)
          : sdk("v2/scheduler").onSchedule({ ...own, schedule, timeoutSeconds: SWEEP_TIMEOUT_SECONDS }, sweep),
      );
    }
  }
}

/** Whether a function is off: while all the parameters that ask for it have their defaults. */
function isOff(parameters: readonly string[]): boolean | Expression<boolean> {
  const [first, ...others] = parameters;
  if (first === undefined) return false;
  return others.length === 0 ? hasDefault(first) : hasDefault(first).thenElse(areAllOff(others), false);
}

/** As {@link isOff}, for a branch of an expression: the CLI wants a literal there, or another choice. */
function areAllOff([first, ...others]: readonly string[]): boolean | Expression<boolean> {
  return first === undefined ? true : hasDefault(first).thenElse(areAllOff(others), false);
}

function hasDefault(parameter: string) {
  return textParam(parameter).equals(PARAMETERS[parameter]?.default ?? "");
}

/** Events are retried for up to a day. */
function onDocument(name: string, { on, root, path }: DocumentTrigger, own: object) {
  const document = root === undefined ? path : expr`${textParam(root)}/${path}`;
  const retried = { ...own, document, database: textParam("DATABASE_ID"), retry: true } as const;
  const handle = handlerOf("onDocument", name);
  const event = (before: DocumentEvent["before"], after: DocumentEvent["after"], time: string) =>
    handle()({ before: before?.exists ? before : undefined, after: after?.exists ? after : undefined, time });
  switch (on) {
    case "created":
      return onDocumentCreated(retried, ({ data, time }) => event(undefined, data, time));
    case "deleted":
      return onDocumentDeleted(retried, ({ data, time }) => event(data, undefined, time));
    case "updated":
      return onDocumentUpdated(retried, ({ data, time }) => event(data?.before, data?.after, time));
    case "written":
      return onDocumentWritten(retried, ({ data, time }) => event(data?.before, data?.after, time));
  }
}

function onRequest(name: string, omit: boolean | Expression<boolean>) {
  const handle = handlerOf("onRequest", name);
  const receive = (...[request, response]: Parameters<ReturnType<typeof handle>>) => handle()(request, response);
  return isExtension
    ? sdk("v1/https").onRequest(receive)
    : sdk("v2/https").onRequest({ ...SHARED, omit, invoker: "public" }, receive);
}

/** A message may have no data. */
function onMessage(name: string, topic: string, omit: boolean | Expression<boolean>) {
  const handle = handlerOf("onMessage", name);
  const receive = (id: string, base64 = "") => handle()(id, Buffer.from(base64, "base64").toString());
  return isExtension
    ? sdk("v1/pubsub")
        .topic(textParam(topic))
        .onPublish(({ data }, { eventId }) => receive(eventId, data))
    : sdk("v2/pubsub").onMessagePublished<string>(
        { ...SHARED, omit, topic: textParam(topic), retry: true },
        ({ data: { message } }) => receive(message.messageId, message.data),
      );
}

function runDispatched(task: CounterTask): Promise<void> {
  const backend = getBackend();
  return backend.runByTimer && backend.now() < task.due ? backend.runByTimer(task) : runTask(backend, task);
}
