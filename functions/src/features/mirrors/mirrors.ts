/** Mirrors: a publish also writes the total into a document of the app, in the same commit. */
import { type DocumentSnapshot, FieldPath, FieldValue, type WriteBatch } from "firebase-admin/firestore";
import {
  amountShown,
  codeOf,
  INVALID_ARGUMENT,
  type MirrorTarget,
  mirrorName,
  mirrorTarget,
  NOT_FOUND,
} from "../../../../core/src/index.ts";
import { isAmount, isMap, unchanged } from "../../../../firestore/src/index.ts";
import { fieldIf, finite } from "../../counter/fields.ts";
import { logError } from "../../counter/log.ts";
import type { CounterConfig, CounterState } from "../../counter/types.ts";
import { defineFeature } from "../../shared/feature.ts";
import { mirrorsPlan } from "./mirrorsPlan.ts";

declare module "../../counter/types.ts" {
  interface FeatureStates {
    readonly mirrors: {
      /** The part of the sum of the shards that the mirror shows, and which field that is. */
      readonly amount: number;
      readonly shownIn: string | undefined;
      /** Whether the mirror is to be written even if it shows the total: `publishCounter` has asked for that. */
      readonly again: boolean;
    };
  }
}

/**
 * Cost: 1 write if the total has changed; and 1 read, for a bridged mirror or a field in a map, if it does not show the total. The mirror is
 * skipped if its document is missing or full, or has another value in the place of a map. The next publish tries again.
 */
export const mirrors = defineFeature({
  ...mirrorsPlan,
  isOptional: true,
  parseState: (document) => ({
    amount: finite(document.get("mirrored")),
    shownIn: document.get("mirroredIn"),
    again: document.get("mirrorAgain") === true,
  }),
  measurementDependsOn: ({ mirrors }) => [mirrors?.amount, mirrors?.shownIn],
  async contribute(state, next, config) {
    const done = fieldIf("mirrorAgain", null, state.mirrors?.again === true);
    const mirror = mirrorToWrite(state, next.total, config);
    if (!mirror) return { fields: done };
    const document = state.ref.firestore.doc(mirror.document);
    const field = new FieldPath(...mirror.field);
    // A write of `stats.total` would replace a text `stats` by a map.
    const shown = mirror.isBridged || mirror.field.length > 1 ? await document.get() : undefined;
    if (shown && !canHoldField(shown, mirror.field)) {
      if (shown.exists) logUnwritableMirror(state, mirror.document);
      return { fields: {} };
    }
    return {
      fields: { mirrored: next.total, mirroredIn: mirrorName(mirror), ...done },
      addTo(batch) {
        const amount = amountShown(state.mirrors?.amount ?? 0, state.mirrors?.shownIn, mirror);
        if (mirror.isBridged && shown) addToField(batch, shown, field, next.total, amount);
        else if (shown) batch.update(document, field, next.total, unchanged(shown));
        else batch.update(document, field, next.total);
      },
    };
  },
  isRefused: (error, state, next, config) =>
    [NOT_FOUND, INVALID_ARGUMENT].includes(codeOf(error) ?? 0) &&
    mirrorToWrite(state, next.total, config) !== undefined,
  wasLeftOut(error, state, config) {
    // A missing document is ordinary, and is not logged.
    if (codeOf(error) === INVALID_ARGUMENT)
      logUnwritableMirror(state, mirrorTarget(state.ref.id, config.mirrors)?.document, error);
  },
});

/** Documents that this instance has logged, since each publish tries again. An instance logs so many at most. */
const logged = new Set<string>();
const MOST_LOGGED = 100;

function logUnwritableMirror({ ref }: CounterState, document = "", error?: unknown): void {
  if (logged.has(document) || logged.size === MOST_LOGGED) return;
  logged.add(document);
  logError("could not mirror a total: its document cannot hold it", { counter: ref.id, document, error });
}

/** Whether a document exists, with maps or nothing where the field's parents are. */
function canHoldField(document: DocumentSnapshot, field: readonly string[]): boolean {
  const parents = field.slice(0, -1).map((_, index) => document.get(new FieldPath(...field.slice(0, index + 1))));
  return document.exists && parents.every((parent) => parent === undefined || isMap(parent));
}

/** The mirror of a counter, unless it shows the total. */
function mirrorToWrite(state: CounterState, total: number, config: CounterConfig): MirrorTarget | undefined {
  const { ref, published, mirrors: { amount = 0, shownIn, again = false } = {} } = state;
  const mirror = mirrorTarget(ref.id, config.mirrors);
  if (!mirror || again) return mirror;
  const shown = amountShown(amount, shownIn, mirror);
  // Where the last publish was made without the mirror, its document may have been made anew.
  const isCertain = mirror.isBridged || (shownIn === mirrorName(mirror) && published?.total === shown);
  return isCertain && total === shown ? undefined : mirror;
}

/** Adds what a field does not show yet. One that is gone, or is no amount, gets the total. */
function addToField(
  batch: WriteBatch,
  shown: DocumentSnapshot,
  field: FieldPath,
  total: number,
  mirrored: number,
): void {
  const value = isAmount(shown.get(field)) ? FieldValue.increment(total - mirrored) : total;
  batch.update(shown.ref, field, value, unchanged(shown));
}
