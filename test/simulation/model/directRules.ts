/** The parts of `firestore.rules` about increments in the counter document. Each adds one mark, and joins a generation that never comes back. */
import { DIRECT_SLOTS, groupOf, MAX_DIRECT_MARKS, SLOW_GENERATION_SECONDS } from "../../../core/src/index.ts";
import { planted } from "../mutations/mutation.ts";
import { changedIn, isMarked, mapOf, noncesOf, type Step } from "./marks.ts";
import { type Fields, type Micros, microsOf } from "./values.ts";

/** The counters whose groups the policy of a run does not list in `needsFunctions`. */
let hasDirect: (counter: string) => boolean = () => false;

export function setDirectPolicy(policy: typeof hasDirect): void {
  hasDirect = policy;
}

const PARTS = ["open", "generation", "count", "writes", "marks"];

/** A write adds the same whole amount to the total and to the direct count, counts itself, and leaves a mark. */
export function isDirectWrite({ before, after }: Step, time: Micros, counter: string, isNew: boolean): boolean {
  const [old, direct] = [mapOf(before.direct), mapOf(after.direct)];
  const changed = changedIn(before, after);
  const isAllowed = isNew
    ? changed.every((field) => ["group", "total", "direct"].includes(field)) && after.group === groupOf(counter)
    : old.open === true && changed.every((field) => field === "total" || field === "direct");
  return (
    hasDirect(counter) &&
    isAllowed &&
    Object.keys(direct).every((part) => PARTS.includes(part)) &&
    direct.open === true &&
    [after.total, direct.count].every(Number.isSafeInteger) &&
    Number(after.total) - Number(before.total ?? 0) === Number(direct.count) - Number(old.count ?? 0) &&
    direct.writes === Number(old.writes ?? 0) + 1 &&
    joinsGeneration(old, Number(direct.generation)) &&
    leavesMark(mapOf(old.marks), mapOf(direct.marks), Number(direct.generation), time)
  );
}

function joinsGeneration(old: Fields, generation: number): boolean {
  const current = Number(old.generation ?? 0);
  if (planted.withoutRule === "the generation is named") return true;
  return generation === current || (generation === current + 1 && isFullAndSlow(mapOf(old.marks), current));
}

function isFullAndSlow(marks: Fields, generation: number): boolean {
  const slotOf = (generation: number) => mapOf(marks[(generation + DIRECT_SLOTS) % DIRECT_SLOTS]);
  const [last, before] = [slotOf(generation), slotOf(generation - 1)];
  if (noncesOf(last).length < MAX_DIRECT_MARKS) return false;
  return !before.at || microsOf(last.at) - microsOf(before.at) >= SLOW_GENERATION_SECONDS * 1e6;
}

function leavesMark(before: Fields, after: Fields, generation: number, time: Micros): boolean {
  const [name, next] = [`${generation % DIRECT_SLOTS}`, `${(generation + 1) % DIRECT_SLOTS}`];
  const changed = changedIn(before, after);
  return (
    changed.every((slot) => slot === name || slot === next) &&
    !(next in after) &&
    isMarked(before[name], after[name], time, MAX_DIRECT_MARKS)
  );
}
