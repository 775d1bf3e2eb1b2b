/**
 * A feature is one object: its parameters, functions, tasks, and its hooks of a publish. deploy/ derives functions, queues and the sweep from
 * the list features/features.ts; scripts/derived.ts derives the manifest and tables.
 *
 * Its plan is the pure half, which pages and simulators use without Firebase. The other half needs Firestore. A handler imports what only it
 * needs, such as the client of Pub/Sub, at its first call.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "firebase-admin/app";
import type { DocumentSnapshot } from "firebase-admin/firestore";
import type { Backend, FeatureConnections } from "../counter/backend.ts";
import type { CounterTask, TaskKinds } from "../counter/cause.ts";
import type { CounterConfig, EntryOf, PublishDecisions, PublishHooks } from "../counter/types.ts";
import type { Groups } from "./groups.ts";
import type { Parameters, Values } from "./parameters.ts";

/** What a deployment has set: its configuration without the code of features. */
export type Settings = Omit<CounterConfig, "plans">;

/** The pure half of a feature. `Work` is what it may have to do before a publish. */
export interface FeaturePlan<Name extends string = string, Work = unknown> extends PublishDecisions<Name, Work> {
  /** The features whose settings, tasks or files it uses. */
  readonly needs?: readonly string[];
  readonly parameters?: Parameters;
  /**
   * The settings that follow from the parameters: the feature's own, and those of features before it in the list that it changes.
   *
   * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
   */
  settings?(values: Values, before: Settings): Partial<Settings>;
  /**
   * Checks parameters that only the feature's own functions parse, as those of `ingest`, so that a deployment fails and not their first call.
   *
   * @throws as {@link settings} does
   */
  check?(values: Values): void;
  /**
   * The groups for which {@link needsPublishes} is true whatever their counters' documents hold: the rules list them, because clients may
   * create the documents of other groups.
   */
  groupsThatNeedPublishes?(settings: Settings): Groups;
  /** The functions it needs, by the names of their exports. Features that share a queue name the same function. */
  readonly functions?: Readonly<Record<string, FunctionPlan>>;
  /** Its rows in the table of features in docs/configuration.md: text of the first column → the parameter that asks for it. */
  readonly tableRows?: Readonly<Record<string, string>>;
  /** Roles that the functions' account also needs if the variable `if` is set. `to` is the purpose. */
  readonly roles?: readonly { readonly role: Role; readonly if: string; readonly to: string }[];
}

/** A role of IAM, as firebase-functions types it. */
export type Role = `roles/${string}.${string}`;

/** A function. */
export interface FunctionPlan {
  /** What it does, in the manifest of the extension. */
  readonly does: string;
  /** What is wrong while it is missing, as `doctor` says it. */
  readonly without: string;
  readonly trigger: Trigger;
  /** It is deployed if this parameter differs from its default, which asks for the feature; always if it names none. */
  readonly askedForBy?: string;
  /** Whether `MIN_INSTANCES` applies: to the functions that run between an increment and its total. */
  readonly hasMinInstances?: true;
  /** Whether the extension lacks it. */
  readonly isNotInExtension?: true;
}

export type Trigger =
  | DocumentTrigger
  /** Requests by HTTP of anyone on the internet. */
  | { readonly on: "request" }
  /** Messages of a Pub/Sub topic, which a parameter names. */
  | { readonly on: "message"; readonly topic: string }
  /** Tasks of these kinds. */
  | { readonly on: "task"; readonly kinds: readonly (keyof TaskKinds)[] }
  /** The sweep, at this interval. No other handler has a schedule. */
  | { readonly on: "schedule"; readonly every: string };

/** Writes of documents. */
export interface DocumentTrigger {
  readonly on: "created" | "updated" | "deleted" | "written";
  /** The parameter that names the collection that the path begins with. */
  readonly root?: string;
  readonly path: string;
}

/** A write of a document. `before` is `undefined` for a creation, `after` for a deletion. */
export interface DocumentEvent {
  readonly before: DocumentSnapshot | undefined;
  readonly after: DocumentSnapshot | undefined;
  /** When it was written, ISO 8601. May be rounded. */
  readonly time: string;
}

/** A request. Its server may have read the body. */
export interface HttpRequest extends IncomingMessage {
  readonly rawBody?: Buffer;
}

/** Creates the handler of an instance, at the first call of its function. */
type CreateHandler<Arguments extends readonly unknown[]> = (backend: Backend) => (...given: Arguments) => Promise<void>;

/** A feature: its plan, and what needs Firestore. Each function of the plan has a handler here, under its name; each task under its kind. */
export interface Feature<Name extends string = string, Work = unknown>
  extends FeaturePlan<Name, Work>,
    PublishHooks<Name, Work> {
  readonly onDocument?: Readonly<Record<string, CreateHandler<[event: DocumentEvent]>>>;
  readonly onRequest?: Readonly<Record<string, CreateHandler<[request: HttpRequest, response: ServerResponse]>>>;
  readonly onMessage?: Readonly<Record<string, CreateHandler<[id: string, data: string]>>>;
  /** Called for each task: it keeps nothing between two. */
  readonly onTask?: { readonly [kind in keyof TaskKinds]?: (backend: Backend, task: CounterTask) => Promise<void> };
  /** Its part of the sweep: handles what lost events and tasks have left. Cost while the feature is off: nothing; for visitors 1 read an hour. */
  sweep?(backend: Backend): Promise<void>;
  /** Connects an instance to what the feature needs besides the database. No I/O. */
  connect?(app: App, settings: Settings): EntryOf<FeatureConnections, Name> | undefined;
}

/** Types a feature: its fields, state and connections are those under its name. */
export function defineFeature<Name extends string, Work = unknown>(feature: Feature<Name, Work>): Feature<Name, Work> {
  return feature;
}
