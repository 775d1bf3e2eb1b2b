/**
 * What a feature is: one object with its parameters, functions and tasks, and its part of a publish. The functions that are deployed, queues,
 * the sweep, the manifest of the extension and the tables of docs/configuration.md are derived from the list (features/features.ts).
 *
 * A feature has a pure half, its plan, which pages and simulators use without Firebase, and the other half, which needs Firestore. What a
 * function needs only when it is called, such as a client of Pub/Sub, is imported then.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { App } from "firebase-admin/app";
import type { DocumentSnapshot } from "firebase-admin/firestore";
import type { Backend, FeatureConnections } from "../counter/backend.ts";
import type { CounterTask, TaskKinds } from "../counter/cause.ts";
import type { CounterConfig, Of, PublishPart, PublishPlan } from "../counter/types.ts";
import type { Groups } from "./groups.ts";
import type { Parameters, Values } from "./parameters.ts";

/** What a deployment has set: its configuration without the code of features. */
export type Settings = Omit<CounterConfig, "plans">;

/** The pure half of a feature. `Work` is what it may have to do before a publish. */
export interface FeaturePlan<Name extends string = string, Work = unknown> extends PublishPlan<Name, Work> {
  /** The features whose settings, tasks or files it uses. */
  readonly needs?: readonly string[];
  readonly parameters?: Parameters;
  /**
   * What the parameters set: for the feature itself, and what it changes in the settings of those before it in the list.
   *
   * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
   */
  settings?(values: Values, before: Settings): Partial<Settings>;
  /** Checks what {@link settings} leaves to the functions that need it. @throws as it does */
  check?(values: Values): void;
  /** The groups of the counters of which each total must be published: for the list of `needsFunctions` in the rules. */
  groupsThatNeedPublishes?(settings: Settings): Groups;
  /** The functions it needs, by the names of their exports. Features that share a queue name the same function. */
  readonly functions?: Readonly<Record<string, FunctionPlan>>;
  /** The rows of the table of features in docs/configuration.md: what the feature is there → the parameter that asks for it. */
  readonly documented?: Readonly<Record<string, string>>;
  /** What the account of the functions must be allowed to do if a variable is set, besides what all need. */
  readonly roles?: readonly { readonly role: Role; readonly if: string; readonly to: string }[];
}

/** The type of firebase-functions. */
export type Role = `roles/${string}.${string}`;

/** A function. */
export interface FunctionPlan {
  /** What it does, in the manifest of the extension. */
  readonly does: string;
  /** What is wrong while it is missing, as `doctor` says it. */
  readonly without: string;
  readonly trigger: Trigger;
  /** It is not deployed while this parameter has its default, and so the feature is off. */
  readonly unless?: string;
  /** Whether each increment passes it on the way to its total, so that `MIN_INSTANCES` holds for it. */
  readonly isOnTheWay?: true;
  /** Whether the extension lacks it. */
  readonly isNotInExtension?: true;
}

export type Trigger =
  | DocumentTrigger
  /** Requests by HTTP of anyone on the internet. */
  | { readonly on: "request" }
  /** Messages of the Pub/Sub topic that the parameter {@link FunctionPlan.unless} names. */
  | { readonly on: "message" }
  /** Tasks of these kinds. */
  | { readonly on: "task"; readonly kinds: readonly (keyof TaskKinds)[] }
  | { readonly on: "schedule"; readonly every: string };

/** Writes of documents. */
export interface DocumentTrigger {
  readonly on: "created" | "updated" | "deleted" | "written";
  /** The parameter that names the collection that the path begins with. */
  readonly root?: string;
  readonly path: string;
}

/** A write of a document: what it was before, and what it is after. Neither has the snapshot of a document that did not exist. */
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
type Handler<Arguments extends readonly unknown[]> = (backend: Backend) => (...given: Arguments) => Promise<void>;

/** A feature: its plan, and what needs Firestore. Each function of the plan has a handler here, under its name; each task under its kind. */
export interface Feature<Name extends string = string, Work = unknown>
  extends FeaturePlan<Name, Work>,
    PublishPart<Name, Work> {
  readonly onDocument?: Readonly<Record<string, Handler<[event: DocumentEvent]>>>;
  readonly onRequest?: Readonly<Record<string, Handler<[request: HttpRequest, response: ServerResponse]>>>;
  readonly onMessage?: Readonly<Record<string, Handler<[id: string, data: string]>>>;
  readonly onTask?: { readonly [kind in keyof TaskKinds]?: (backend: Backend, task: CounterTask) => Promise<void> };
  /** Its part of the sweep: handles what lost events and tasks have left. It costs nothing, or little, while the feature is off. */
  sweep?(backend: Backend): Promise<void>;
  /** Connects an instance to what the feature needs besides the database. No I/O. */
  connect?(app: App, settings: Settings): Of<FeatureConnections, Name> | undefined;
}

/** Types a feature: its fields, state, settings and connections are those under its name. */
export function defineFeature<Name extends string, Work = unknown>(feature: Feature<Name, Work>): Feature<Name, Work> {
  return feature;
}
