/**
 * The core's types: the state of a counter, the configuration, and how a feature joins a publish.
 *
 * A feature has fields in the counter document, tasks, and writes in the commit of a publish. The core calls every feature, and knows none by
 * name. Each feature declares the types of its settings, fields and state in its own folder: with `declare module`, under its name, in the
 * interfaces that begin with `Feature`.
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
  /** The plans of all features. Their order does not matter: each reads only what was published before. */
  readonly plans: readonly PublishDecisions[];
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

/** What each feature has in the last publish: an instance that has published knows it without reading the document. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureFields {}

/** The last publish with what features have in it. Absent: a feature that has not joined. */
export interface Published extends CorePublished, Partial<FeatureFields> {}

/** What else each feature reads of the counter document. Servers, other regions or the feature's own commit write it, so only a read tells it. */
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
export interface PlannedPublish extends MeasuredState {
  readonly next: CorePublished;
}

/** What a publish is planned from. */
export interface MeasuredState extends KnownState {
  readonly measurement: Measurement;
  readonly settings: ShardSettings;
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

/**
 * The type under a feature's name: `EntryOf<FeatureFields, "windows">` is `FeatureFields["windows"]`. If the name is only known as a string:
 * the type under any name.
 */
export type EntryOf<All, Name extends string> = Name extends keyof All ? All[Name] : All[keyof All];

/**
 * The pure hooks of a publish, in the order of their calls ({@link PublishHooks}). The simulators use them as they are. `Work`: what the feature
 * may have to do before a publish.
 */
export interface PublishDecisions<Name extends string = string, Work = unknown> {
  readonly name: Name;
  /** What it changes in the use of this counter's shards. */
  shardSettings?(state: Partial<CounterState>, config: CounterConfig): Partial<ShardSettings>;
  /** What it corrects in a sum of the shards. */
  correctSum?(sum: Measurement, state: CounterState, config: CounterConfig): Partial<Measurement>;
  /** What it has in the publish. */
  fieldsAfter?(planned: PlannedPublish, config: CounterConfig): EntryOf<FeatureFields, Name>;
  /** What must be done before the publish, if anything. Then the counter is measured again. The first feature with work does its work. */
  prepare?(planned: PlannedPublish): Work | undefined;
  /** The tasks that the publish needs. They are scheduled before it is made. */
  tasks?(previous: Published | undefined, next: Published): readonly ScheduledTask[];
  /** Whether each total of this counter must be published, so that clients may not write the counter document. */
  needsPublishes?(state: Partial<CounterState>, config: CounterConfig): boolean;
  /** Tasks that the instance of the last publish may not have scheduled. @param updatedAt  when the document was written */
  missedTasks?(published: Published, updatedAt: Millis): readonly ScheduledTask[];
  /** Outside of publishes: the kind of task to schedule after each task of `kind`, which passes on what that task wrote. */
  follows?(kind: keyof TaskKinds, config: CounterConfig): keyof TaskKinds | undefined;
}

/** What a feature adds to the commit of a publish. */
export interface Contribution {
  /** Its fields of the counter document. */
  readonly fields: object;
  /** Adds writes of other documents. */
  addTo?(batch: WriteBatch): void;
}

/**
 * How a feature joins a publish: its decisions, and what needs Firestore. An aggregation calls the hooks of all features in this order:
 *
 *     counterDocument.ts   reads     parse, parseState
 *     measure.ts           measures  measureInstead; or shardSettings, correctSum
 *     nextPublished.ts     plans     shardSettings, fieldsAfter
 *     decide.ts            decides   prepare (then aggregate.ts: carryOut, and it measures again), tasks
 *     publish.ts           commits   contribute, needsPublishes; if that is refused, isRefused and wasLeftOut
 *     aggregate.ts         goes on   missedTasks; if another has published, measurementDependsOn
 */
export interface PublishHooks<Name extends string = string, Work = unknown> extends PublishDecisions<Name, Work> {
  /** What it has in the last publish. Each field is checked, because a server may have damaged it. */
  parse?(document: DocumentSnapshot): EntryOf<FeatureFields, Name>;
  /** What else it reads of the counter document. */
  parseState?(document: DocumentSnapshot): EntryOf<FeatureStates, Name>;
  /** How it measures a counter that does not sum its shards; `undefined` for one that does. */
  measureInstead?(
    counterId: string,
    firestore: Firestore,
    config: CounterConfig,
  ): (() => Promise<Measurement>) | undefined;
  /** Does what {@link PublishDecisions.prepare} has found. */
  carryOut?(shards: CollectionReference, work: Work): Promise<void>;
  /** @param state  the counter document as it was read, which is the commit's precondition */
  contribute?(state: CounterState, next: Published, config: CounterConfig): Contribution | Promise<Contribution>;
  /** Whether the commit failed because the app's document refuses its write: it is missing or full. Then the publish is made without it. */
  isRefused?(error: unknown, state: CounterState, next: Published, config: CounterConfig): boolean;
  /** After a publish without it, because {@link isRefused} said so. */
  wasLeftOut?(error: unknown, state: CounterState, config: CounterConfig): void;
  /** Whether a publish is made without it, rather than not at all, if another attempt fails as well. */
  readonly isOptional?: true;
  /** The part of its state that a measurement depends on: if that has changed, the counter is measured again. */
  measurementDependsOn?(state: CounterState): unknown;
}

/** A value of the core with what each feature changes in it. */
export function changedBy<T extends object>(value: T, changes: readonly (Partial<T> | undefined)[]): T {
  const changed = { ...value };
  for (const change of changes) Object.assign(changed, change);
  return changed;
}

/** An object with each feature's value under its name, without those that are undefined. */
export function byName<All extends object>(
  entries: readonly (readonly [name: string, value: All[keyof All] | undefined])[],
): Partial<All> {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<All>;
}
