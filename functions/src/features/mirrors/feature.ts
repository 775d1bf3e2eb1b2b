/** Mirrors: a publish also writes the total into a document of the app, in the same commit. */
import { type DocumentSnapshot, FieldPath, FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { isAmount, unchanged } from "../../../../admin/src/internal.ts";
import {
  amountShown,
  codeOf,
  INVALID_ARGUMENT,
  type MirrorTarget,
  mirrorName,
  mirrorTarget,
  NOT_FOUND,
} from "../../../../core/src/index.ts";
import { finite } from "../../counter/fields.ts";
import { logError } from "../../counter/log.ts";
import type { CounterState, Feature } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { mirrorsPlan } from "./mirrorsPlan.ts";

declare module "../../counter/types.ts" {
  interface CounterState {
    /** The part of the sum of the shards that the mirror shows, and which field that is. */
    readonly mirrored: number;
    readonly mirroredIn: string | undefined;
  }
}

/**
 * Cost: 1 write if the total has changed; 1 read of a bridged mirror if it does not show the total. The mirror is skipped if its document
 * is missing or full. The next publish tries again.
 */
export const mirrors: Feature = {
  ...mirrorsPlan,
  isOptional: true,
  parseState: (document) => ({ mirrored: finite(document.get("mirrored")), mirroredIn: document.get("mirroredIn") }),
  measuredWith: ({ mirrored, mirroredIn }) => [mirrored, mirroredIn],
  async contribute(state, next, config: Config) {
    const mirror = mirrorToWrite(state, next.total, config);
    if (!mirror) return { fields: {} };
    const document = state.ref.firestore.doc(mirror.document);
    const field = new FieldPath(...mirror.field);
    const shown = mirror.isBridged ? await document.get() : undefined;
    if (shown?.exists === false) return { fields: {} };
    return {
      fields: { mirrored: next.total, mirroredIn: mirrorName(mirror) },
      addTo(batch) {
        if (shown) addToField(batch, shown, field, next.total, amountShown(state.mirrored, state.mirroredIn, mirror));
        else batch.update(document, field, next.total);
      },
    };
  },
  isRefused: (error, state, next, config: Config) =>
    [NOT_FOUND, INVALID_ARGUMENT].includes(codeOf(error) ?? 0) &&
    mirrorToWrite(state, next.total, config) !== undefined,
  wasLeftOut(error, { ref }, config: Config) {
    // A missing document is ordinary, and is not logged.
    if (codeOf(error) !== INVALID_ARGUMENT) return;
    const document = mirrorTarget(ref.id, config.mirrors)?.document;
    logError("could not mirror a total: its document cannot hold it", { counter: ref.id, document, error });
  },
};

/** The mirror of a counter, unless it shows the total. */
function mirrorToWrite(state: CounterState, total: number, config: Config): MirrorTarget | undefined {
  const { ref, published, mirrored, mirroredIn } = state;
  const mirror = mirrorTarget(ref.id, config.mirrors);
  if (!mirror) return undefined;
  const shown = amountShown(mirrored, mirroredIn, mirror);
  // Where the last publish was made without the mirror, its document may have been made anew.
  const isCertain = mirror.isBridged || (mirroredIn === mirrorName(mirror) && published?.total === shown);
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
