import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DIRECT_SLOTS,
  EARLY_MARK_MILLIS,
  LATE_MARK_MILLIS,
  MARK_LIFETIME_SECONDS,
  MARK_SLOT_MILLIS,
  MARK_SLOTS,
  MAX_DIRECT_MARKS,
  MAX_LATE_NONCES,
  MAX_MARKS_WITHOUT_FUNCTIONS,
  MAX_SLOT_NONCES,
  NONCE_BYTES,
  SLOW_GENERATION_SECONDS,
} from "./layout.ts";
import { planIncrement } from "./writePlan.ts";

const rules = readFileSync(new URL("../../firestore.rules", import.meta.url), "utf8");
const dataModel = readFileSync(new URL("../../docs/data-model.md", import.meta.url), "utf8");

/** Milliseconds since the epoch, of the years to 2286 and of clocks that are wrong. */
const instants = fc.oneof(fc.integer({ min: 0, max: 1e13 }), fc.double({ min: 0, max: 8.64e15, noNaN: true }));
const draws = fc.oneof(
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  fc.constantFrom(0, 2 ** -53, 0.5, 1 - 2 ** -53),
);
const slotAt = (now: number) => planIncrement("c/x", "0", 1, now, () => 0).slot;

describe("the plan of an increment", () => {
  test("has the path of the shard document and the amount, and no entry without `once`", () => {
    const bytes = [0, 0.5, 0.999, 0.0039, 0.25];
    expect(planIncrement("counters/likes:post42", "7", 1, 183_000, () => bytes.shift() as number)).toEqual({
      path: "counters/likes:post42/shards/7",
      shard: "7",
      by: 1,
      slot: "3",
      expired: "4",
      nonce: Uint8Array.of(0, 128, 255, 0, 64),
      entry: undefined,
    });
    expect(planIncrement("c/x", "0", -2.5, 0, () => 0)).toMatchObject({ path: "c/x/shards/0", by: -2.5, slot: "0" });
  });

  test("with `once` has the path of the entry, too, and is otherwise the same", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), instants, draws, (once, now, draw) => {
        const plan = planIncrement("c/x", "4", 2, now, () => draw);
        const planned = planIncrement("c/x", "4", 2, now, () => draw, once);
        expect(planned).toEqual({ ...plan, entry: `c/x/tallyEntries/${once}` });
      }),
    );
  });

  test("of a direct increment has the path of the counter document and a slot of its generation, whatever the clock says", () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.double(),
        draws,
        fc.constantFrom("ada", undefined),
        (generation, now, draw, once) => {
          const plan = planIncrement("c/x", "0", 3, now, () => draw, once);
          expect(planIncrement("c/x", generation, 3, now, () => draw, once)).toEqual({
            ...plan,
            path: "c/x",
            shard: "direct",
            generation,
            slot: `${generation % DIRECT_SLOTS}`,
            expired: `${(generation + 1) % DIRECT_SLOTS}`,
          });
        },
      ),
    );
    const limit = `hasFunctions() ? ${MAX_DIRECT_MARKS} : ${MAX_MARKS_WITHOUT_FUNCTIONS}`;
    expect(rules).toContain(`isMarked(before.get([name, 'nonces'], []), after[name], ${limit}, '');`);
    expect(rules).toContain(`string(generation % ${DIRECT_SLOTS})`);
    expect(dataModel).toContain(`[generation % ${DIRECT_SLOTS}]`);
    expect(rules).toContain(`(generation + ${DIRECT_SLOTS - 1}) % ${DIRECT_SLOTS}`);
    expect(rules).toContain(`size >= ${MAX_DIRECT_MARKS} &&`);
    expect(rules).toContain(`size >= ${MAX_MARKS_WITHOUT_FUNCTIONS} &&`);
    expect(rules).toContain(`before.at + duration.value(${SLOW_GENERATION_SECONDS}, 's') <= last.at`);
  });

  test("uses another slot every 61 seconds, and the same one again after five", () => {
    expect([0, 60_999, 61_000, 304_999, 305_000].map(slotAt)).toEqual(["0", "0", "1", "4", "0"]);
    expect(MARK_SLOT_MILLIS * MARK_SLOTS).toBe(305_000);
    fc.assert(fc.property(instants, (now) => slotAt(now) === slotAt(now + 305_000) || now > 1e14));
  });

  test("uses a slot that the rules accept, whatever the clock says", () => {
    const [, list = ""] = /after\.keys\(\)\.hasOnly\(\[('0'[^\]]*)\]/.exec(rules) ?? [];
    const known = [...list.matchAll(/'(\w)'/g)].map(([, name]) => name);
    expect(known).toHaveLength(MARK_SLOTS);
    for (let n = 0; n < MARK_SLOTS; n++) expect(known[n]).toBe(slotAt(n * MARK_SLOT_MILLIS));
    for (const wrong of [-1, -1e15, 0, 1e300, Number.NaN, Number.POSITIVE_INFINITY])
      expect(known).toContain(slotAt(wrong));
    fc.assert(fc.property(fc.double(), (now) => known.includes(slotAt(now))));
  });

  test("finds that slot expired which no right clock has used for two minutes, and uses it next", () => {
    const [, minutes] = /\.at \+ duration\.value\((\d+), 'm'\) < request\.time/.exec(rules) ?? [];
    expect(Number(minutes) * 60).toBe(MARK_LIFETIME_SECONDS);
    fc.assert(
      fc.property(fc.integer({ min: 1e12, max: 2e12 }), fc.integer({ min: 0, max: 183_000 }), (now, ago) => {
        const { slot, expired } = planIncrement("c/x", "0", 1, now, () => 0);
        // Another device's clock may be a minute behind, besides.
        expect(slotAt(now - Math.min(ago, (MARK_LIFETIME_SECONDS + 60) * 1_000))).not.toBe(expired);
        expect(slotAt(now + MARK_SLOT_MILLIS)).toBe(expired);
        expect(slot).not.toBe(expired);
      }),
    );
  });

  test("is taken late by a slot with few nonces, and by others near their own time", () => {
    expect(rules).toContain(`${MAX_LATE_NONCES}, name)`);
    const near = `name in [slotAt(${EARLY_MARK_MILLIS}), slotAt(-${LATE_MARK_MILLIS})]`;
    expect(rules).toContain(`(size < few || (size < ${MAX_SLOT_NONCES} && ${near}))`);
    expect(rules).toContain(`millisFromNow) / ${MARK_SLOT_MILLIS} % ${MARK_SLOTS})`);
    // What is written at the latest expires before the slot is taken again.
    const period = MARK_SLOTS * MARK_SLOT_MILLIS;
    const refused = period - MARK_SLOT_MILLIS - EARLY_MARK_MILLIS - LATE_MARK_MILLIS;
    expect(refused - MARK_LIFETIME_SECONDS * 1_000).toBeGreaterThan(60_000);
  });

  test("has a nonce of five random bytes, as the rules require", () => {
    expect(rules).toContain(`slot.nonces[size] is bytes && slot.nonces[size].size() == ${NONCE_BYTES};`);
    const bytes = fc.array(fc.nat(255), { minLength: NONCE_BYTES, maxLength: NONCE_BYTES });
    fc.assert(
      fc.property(bytes, fc.double({ min: 0, max: 0.99, noNaN: true }), (wanted, low) => {
        const left = [...wanted];
        const { nonce } = planIncrement("c/x", "0", 1, 0, () => ((left.shift() as number) + low) / 256);
        expect([...nonce]).toEqual(wanted);
      }),
    );
  });
});
