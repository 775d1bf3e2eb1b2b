/**
 * The core's types: the state of a counter, the configuration, and how a feature joins a publish.
 *
 * A feature has fields of its own in the counter document, tasks, and writes in the commit of a publish. The core calls each feature of the
 * configuration in turn, and knows none by name. What a feature has is kept under its name. It declares the type where it is: with
 * `declare module`, in the interfaces that begin with `Feature`.
 */
import type {
  CollectionReference,
  DocumentReference,
  DocumentSnapshot,
  Firestore,
  Timestamp,
  WriteBatch,
} from "firebase-admin/firestore";
import type { DirectFields, Reservation } from "../../../core/src/index.ts";
import type { ScheduledTask, TaskKinds } from "./cause.ts";
import type { FoldResult } from "./fold.ts";
import type { CollectionCount, Measurement } from "./measurement.ts";
import type { Millis } from "./time.ts";

/** See phase.ts. */
export type Phase = "idle" | "busy" | "scattered" | "quiet" | "shrunk" | "cooling";

/** Of the database: Standard bills documents, Enterprise the bytes of a write by the KiB, and serves each query without an index. */
export type Edition = "standard" | "enterprise";

/** What has been set of a counter, as plain data. */
export interface CounterSettings {
  readonly edition: Edition;
  readonly collection: string;
  readonly minShards: number;
  readonly maxShards: number;
  /** Writes per second that a shard may take before the counter grows. */
  readonly writesPerShard: number;
  /** At least `MARK_LIFETIME_SECONDS`, since a fold deletes marks. */
  readonly shrinkCooldown: Millis;
  readonly minInterval: Millis;
  readonly maxInterval: Millis;
  /** The relative change of a total that is worth publishing. */
  readonly precision: number;
  /** Whether clients may write the documents of calm counters. */
  readonly direct: boolean;
}

/** What has been set for each feature. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureSettings {}

/** What decisions depend on. */
export interface CounterConfig extends CounterSettings, FeatureSettings {
  /** The plans of the features that join a publish. Their order does not matter: each reads only what was published before. */
  readonly plans: readonly PublishPlan[];
}

/** The last publish, as far as the core goes, with times in milliseconds. */
export interface CorePublished {
  /** The sum of the shards at `asOf`, or what was counted instead, and `directCount`. */
  readonly total: number;
  /** The sum of the direct increments in the document. */
  readonly directCount: number;
  readonly shardCount: number;
  /** Whether the shard count has grown or was new with this publish, and may grow further. */
  readonly growing: boolean;
  readonly writes: number;
  /** Writes per second, averaged over some seconds. */
  readonly rate: number;
  /** How much the total changes per second, averaged like `rate`. More than `rate` where one write adds much. */
  readonly amountRate: number;
  readonly publishes: number;
  readonly asOf: Millis;
  readonly phase: Phase;
  /** When the next measurement is scheduled; `null` if the next write triggers it. */
  readonly nextPollAt: Millis | null;
  /** In a quiet phase, since when nothing was written. In the others, since when the rate is low enough to shrink, or `null`. */
  readonly calmSince: Millis | null;
  /** Since when some shards may be unused; `null` if there is nothing to fold. See unusedShards.ts. */
  readonly unusedSince: Millis | null;
  /** How many documents `shards` had. */
  readonly shardDocuments: number;
  /** When a sum of the shards was last given up as too slow; `null` if the shards were summed, or are few. */
  readonly slowSince: Millis | null;
  /** Ids of the shards left out of the total because their `count` cannot be added. Each is logged once. */
  readonly malformedShards: readonly string[];
  /** What was counted instead of summing shards, if anything. */
  readonly collectionCount: CollectionCount | null;
}

/** What each feature has in the last publish. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureFields {}

/** The last publish with what features have in it. Absent: a feature that has not joined. */
export interface Published extends CorePublished, Partial<FeatureFields> {}

/** What other writers keep in the counter document for each feature. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureStates {}

/** A counter document as it was read. Its `updateTime` becomes the precondition of the next publish. */
export interface CounterState extends Partial<FeatureStates> {
  readonly ref: DocumentReference;
  /** `undefined` if there is no document. */
  readonly updateTime: Timestamp | undefined;
  /** `undefined` if it was never published. */
  readonly published: Published | undefined;
  /** The fewest shards that a server has asked for, and until when. */
  readonly reservation: Reserved | undefined;
  /** The sum of resets, imports and corrections since the last publish. These are no increments: the next one leaves them out of the windows and of `amountRate`. */
  readonly adjusted: number | undefined;
  /** The increments that clients have written to the document; `undefined` if it never was open to them. */
  readonly direct: Direct | undefined;
}

/** A {@link Reservation} in milliseconds. */
export type Reserved = Reservation<Millis>;

/** What a decision needs of the field `direct`. */
export interface Direct extends Readonly<Pick<DirectFields<never>, "open" | "generation" | "count">> {
  /** How many marks the generation has. */
  readonly marks: number;
  /** When the last write of the generation was made. */
  readonly lastWrite: Millis | undefined;
  /** When the last direct write of any generation was made; 0 if there is none. */
  readonly lastWriteOfAll: Millis;
  /** When the last write of the generation before was made, if its marks are still there. */
  readonly lastWriteBefore: Millis | undefined;
}

/** What a decision knows: the counter document, what was measured after it was read, and what was done since. */
export interface KnownState extends Partial<Omit<CounterState, "published">> {
  /** The last publish; `undefined` if there is none. */
  readonly previous: Published | undefined;
  /** When the counter document was written. */
  readonly updatedAt?: Millis | undefined;
  readonly measurement?: Measurement | undefined;
  /** What a fold has found, if there was one. */
  readonly folded?: Pick<FoldResult, "lastWritten"> | undefined;
  /** Whether a feature has prepared the publish. */
  readonly isPrepared?: boolean | undefined;
}

/** A publish, as far as the core has planned it. */
export interface PlannedPublish extends KnownState {
  readonly measurement: Measurement;
  readonly next: CorePublished;
  /** The sum of the increments on shards since the publish before. */
  readonly added: number;
}

/** How the shards of one counter are used. A feature may change it. */
export interface ShardSettings extends Pick<CounterSettings, "minShards" | "maxShards"> {
  /** Up to how many shards a measurement lists. */
  readonly mostListed: number;
  /** Whether folds leave shards whose count is above 0. */
  readonly foldsOnlyEmpty: boolean;
  /** Folds leave the shards below this index. */
  readonly keptShards: number;
  /** Updates of the shards below this index trigger the functions. */
  readonly triggerShards: number;
}

/** What a feature has of what all have, by its name. */
export type Of<All, Name extends string> = Name extends keyof All ? All[Name] : All[keyof All];

/** How a feature joins decisions: its pure half, which the simulators use as it is. `Work`: what it may have to do before a publish. */
export interface PublishPlan<Name extends string = string, Work = unknown> {
  readonly name: Name;
  /** What it changes in the use of this counter's shards. */
  shardSettings?(state: Partial<CounterState>, config: CounterConfig): Partial<ShardSettings>;
  /** Whether each total of this counter must be published, so that clients may not write the counter document. */
  needsPublishes?(state: Partial<CounterState>, config: CounterConfig): boolean;
  /** What it corrects in a sum of the shards. */
  measured?(sum: Measurement, state: CounterState, config: CounterConfig): Partial<Measurement>;
  /** What it has in the publish. */
  fieldsAfter?(planned: PlannedPublish, config: CounterConfig): Of<FeatureFields, Name>;
  /** What must be done before the publish, if anything. Then the counter is measured again. */
  prepare?(planned: PlannedPublish): Work | undefined;
  /** The tasks that the publish needs. They are scheduled before it is made. */
  tasks?(previous: Published | undefined, next: Published): readonly ScheduledTask[];
  /** The kind of the task that must follow each task of a kind, so that what that one has written goes on. */
  follows?(kind: keyof TaskKinds, config: CounterConfig): keyof TaskKinds | undefined;
  /** Tasks that the instance of the last publish may not have scheduled. @param updatedAt  when the document was written */
  missedTasks?(published: Published, updatedAt: Millis): readonly ScheduledTask[];
}

/** What a feature adds to the commit of a publish. */
export interface Contribution {
  /** Its fields of the counter document. */
  readonly fields: object;
  /** Adds writes of other documents. */
  addTo?(batch: WriteBatch): void;
}

/** How a feature joins publishes: its plan, and what needs Firestore. */
export interface PublishPart<Name extends string = string, Work = unknown> extends PublishPlan<Name, Work> {
  /** What it has in the last publish. Each field is checked, because a server may have damaged it. */
  parse?(document: DocumentSnapshot): Of<FeatureFields, Name>;
  /** What other writers keep in the counter document for it. */
  parseState?(document: DocumentSnapshot): Of<FeatureStates, Name>;
  /** How it measures a counter that does not sum its shards; `undefined` for one that does. */
  measurer?(counterId: string, firestore: Firestore, config: CounterConfig): (() => Promise<Measurement>) | undefined;
  /** The part of its state that a measurement depends on: if that changes, the counter is measured again. */
  measuredWith?(state: CounterState): unknown;
  /** Does what {@link PublishPlan.prepare} has found. */
  carryOut?(shards: CollectionReference, work: Work): Promise<void>;
  /** @param state  the counter document as it was read, which is the commit's precondition */
  contribute?(state: CounterState, next: Published, config: CounterConfig): Contribution | Promise<Contribution>;
  /** Whether a publish is made without it, rather than not at all, if another attempt fails as well. */
  readonly isOptional?: true;
  /** Whether the commit failed because the app's document refuses its write: it is missing or full. Then the publish is made without it. */
  isRefused?(error: unknown, state: CounterState, next: Published, config: CounterConfig): boolean;
  /** After a publish without it. */
  wasLeftOut?(error: unknown, state: CounterState, config: CounterConfig): void;
}

/** What features have to say, by name. A feature that says nothing is left out. */
export function byName<All extends object>(
  said: readonly (readonly [name: string, value: All[keyof All] | undefined])[],
): Partial<All> {
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as Partial<All>;
}
