/** Mistakes in the counts of today, this week and this month. */
import type { WriteBatch } from "firebase-admin/firestore";
import type { CounterState } from "../../../functions/src/counterDocument.ts";
import type { nextWindows, windowEnds } from "../../../functions/src/windows.ts";
import { eachWrite } from "../batchEdits.ts";
import type { WriteBatch as ModelBatch } from "../model/adminSdk.ts";
import { type Mutation, publishing } from "./seams.ts";

const nextWindow = (mistake: (real: typeof nextWindows) => typeof nextWindows): Mutation => ({
  module: "functions/src/windows.ts",
  declaration: "nextWindows",
  mistake,
  breaks: ["I11"],
});

/** The counter document loses the note of an adjustment. */
const forgetting = (module: string, declaration: string): Mutation => ({
  module,
  declaration,
  mistake:
    (real: (batch: WriteBatch, ...rest: unknown[]) => unknown) =>
    (batch: WriteBatch, ...rest: unknown[]) => {
      const done = real(batch, ...rest);
      const { writes } = batch as unknown as ModelBatch;
      writes.forEach(({ data, ...write }, i) => {
        const { adjusted: _, ...others } = data ?? {};
        if (data && "adjusted" in data) writes[i] = { ...write, data: others };
      });
      return done;
    },
  breaks: ["I11"],
});

export const windowMutations: Record<string, Mutation> = {
  "a day goes on after midnight": {
    module: "functions/src/windows.ts",
    declaration: "windowEnds",
    mistake:
      (real: typeof windowEnds): typeof windowEnds =>
      (at, timeZone) => ({ ...real(at, timeZone), day: real(at, timeZone).week }),
    breaks: ["I11"],
  },
  "a window that is over is added to": nextWindow((real) => (previous, counted, asOf, timeZone) => {
    const next = real(previous, counted, asOf, timeZone);
    const isNew = previous && next && previous.day.until !== next.day.until;
    return isNew ? { ...next, day: { ...next.day, total: previous.day.total + counted } } : next;
  }),
  "a counter without increments begins a day": nextWindow(
    (real) => (previous, counted, asOf, timeZone) =>
      real(counted === 0 ? real(previous, 1, asOf, timeZone) : previous, counted, asOf, timeZone),
  ),
  "days are those of UTC": nextWindow((real) => (previous, counted, asOf) => real(previous, counted, asOf, "UTC")),
  "a measurement is kept though a correction came and went": {
    module: "functions/src/aggregate.ts",
    declaration: "isMeasurementValid",
    mistake:
      (real: (...states: CounterState[]) => boolean) =>
      (before: CounterState, after: CounterState): boolean => {
        const [one, other] = [before, after].map((state) => ({ ...state, adjusted: undefined }));
        return before.adjusted === after.adjusted && real(one as CounterState, other as CounterState);
      },
    breaks: ["I11"],
    isRare: true,
  },
  "a reset counts as increments": forgetting("admin/src/base.ts", "adjustBase"),
  "an import counts as increments": forgetting("admin/src/moveLegacyIncrements.ts", "moveIntoCounter"),
  "an adjustment is left out of two publishes": {
    ...publishing(
      eachWrite((write) => {
        const { adjusted: _, ...data } = write.data ?? {};
        return write.data && "adjusted" in write.data ? { ...write, data } : write;
      }),
    ),
    breaks: ["I11"],
  },
};
