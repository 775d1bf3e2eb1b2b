/**
 * Deliberate mistakes in the code under test, and the invariants that break. The simulation is worth what it finds: each
 * of these must be found.
 */
import type { Mutation } from "./bundle.ts";

interface Mistake extends Mutation {
  readonly breaks: readonly string[];
  /** The seed that finds it, if the first few do not: from there on it is looked for. */
  readonly seed?: number;
  /** Whether it was not found in 4,000 seeds: then it is only for the command. */
  readonly isRare?: true;
}

export const mutations: Record<string, Mistake> = {
  "publish without the guard": {
    file: "functions/src/publish.ts",
    find: "batch.update(ref, document, { lastUpdateTime: updateTime });",
    replace: "batch.update(ref, document);",
    breaks: ["I3", "I4"],
  },
  "publish creates over whatever is there": {
    file: "functions/src/publish.ts",
    find: "else batch.create(ref, document);",
    replace: "else batch.set(ref, document);",
    breaks: ["I3", "I4", "history"],
  },
  "a measurement that finds nothing new is not published": {
    file: "functions/src/decide.ts",
    find: "const isMissing = !previous && !measurement.counted && measurement.documents === 0;",
    replace:
      "const said = (one: Published) => JSON.stringify([one.total, one.writes, one.shardCount, one.nextPollAt, one.shardDocuments]);\n  const isMissing = previous ? said(previous) === said(next) : !measurement.counted && measurement.documents === 0;",
    breaks: ["I2"],
    seed: 78,
  },
  "sum and count of documents at two read times": {
    file: "admin/src/sum.ts",
    find: "transaction.get(sums), transaction.get(shards.count())",
    replace: "transaction.get(sums), shards.count().get()",
    breaks: ["I1", "I2"],
    seed: 2301,
  },
  "a deletion is dated by a clock that may be behind": {
    file: "functions/src/wake.ts",
    find: "Math.max(Date.parse(eventTime) + 1, now)",
    replace: "now",
    breaks: ["I2"],
    seed: 1823,
  },
  "a mirror is written after the publish": {
    file: "functions/src/publish.ts",
    find: "  await batch.commit();\n",
    replace:
      "  const rest = mirror ? (batch as any).writes.splice(1, 1) : [];\n  await batch.commit();\n  if (rest.length > 0) await ref.firestore.doc(rest[0].path).update(rest[0].data);\n",
    breaks: ["I1"],
  },
  "a mirror's document is created": {
    file: "functions/src/publish.ts",
    find: "if (mirror) batch.update(ref.firestore.doc(mirror.document), new FieldPath(...mirror.field), next.total);",
    replace:
      'if (mirror) batch.set(ref.firestore.doc(mirror.document), { [mirror.field[0] ?? ""]: next.total }, { merge: true });',
    breaks: ["I1"],
  },
  "the history has what is published instead of what that replaces": {
    file: "functions/src/publish.ts",
    find: "const points = { [key]: historyStateOf(state) };",
    replace: "const points = { [key]: historyStateOf({ ...next, asOf: state.asOf }) };",
    breaks: ["history"],
  },
  "the history is written before the publish": {
    file: "functions/src/publish.ts",
    find: "batch.set(ref.collection(HISTORY).doc(id), history, { merge: true });",
    replace: "await ref.collection(HISTORY).doc(id).set(history as never, { merge: true });",
    breaks: ["history"],
  },
  "a point replaces the others of its document": {
    file: "functions/src/publish.ts",
    find: "history, { merge: true });",
    replace: "history);",
    breaks: ["history"],
  },
  "a minute in which writing stopped is not kept": {
    file: "functions/src/history.ts",
    find: "return wasBusy || !isSparse(rate, config);",
    replace: "return !isSparse(rate, config);",
    breaks: ["history"],
  },
  "a server's increment without its receipt": {
    file: "admin/src/receipt.ts",
    find: "      batch.create(receipt, ",
    replace: "      void (",
    breaks: ["I5"],
    seed: 74,
  },
  "a receipt is set instead of created": {
    file: "admin/src/receipt.ts",
    find: "batch.create(receipt, ",
    replace: "batch.set(receipt, ",
    breaks: ["I5"],
    seed: 74,
  },
  "each try has a receipt of its own": {
    file: "admin/src/receipt.ts",
    find: "batch.create(receipt, ",
    replace: "batch.create(receipt.parent.doc(), ",
    breaks: ["I5"],
    seed: 137,
  },
  "increments made while a commit is under way are forgotten": {
    file: "admin/src/combine.ts",
    find: "    if (next === share) next = undefined;\n    if (share.sum !== 0) await commit(share.sum);",
    replace: "    if (share.sum !== 0) await commit(share.sum);\n    if (next === share) next = undefined;",
    breaks: ["I5"],
  },
  "combined increments count as the first alone": {
    file: "admin/src/combine.ts",
    find: "next.sum += by;",
    replace: "next.sum ||= by;",
    breaks: ["I5"],
    seed: 204,
  },
  "a server that has committed once never commits again": {
    file: "admin/src/combine.ts",
    find: "    last = share.done.catch(() => undefined);",
    replace: "    last = new Promise(() => {});",
    breaks: ["answers"],
  },
  "a refused reset, or correction, counts as done": {
    file: "admin/src/base.ts",
    find: "throw isPreconditionFailure(error) ? new BaseChanged(undefined, { cause: error }) : error;",
    replace: "if (!isPreconditionFailure(error)) throw error;",
    breaks: ["I5"],
  },
  "the interval is a millisecond": {
    file: "functions/src/interval.ts",
    find: "  return Math.min(Math.max(untilVisible, untilAffordable, minInterval), maxInterval);",
    replace: "  return Math.min(untilVisible, untilAffordable, minInterval, maxInterval, 1);",
    breaks: ["I4"],
  },
  "a measurement locks what it reads": {
    file: "admin/src/sum.ts",
    find: "snapshot: Snapshot = { readOnly: true }",
    replace: "snapshot: object = {}",
    breaks: ["I6"],
  },
  "every counter is swept for ever": {
    file: "functions/src/phase.ts",
    find: 'PHASES.filter((phase) => phase !== "idle")',
    replace: "PHASES",
    breaks: ["I7"],
  },
  "publish as of now instead of the snapshot's instant": {
    file: "functions/src/aggregate.ts",
    find: "await publish(current, step.next, measurement.asOf, config)",
    replace: "await publish(current, step.next, (measurement.asOf as any).constructor.fromMillis(now()), config)",
    breaks: ["I1", "I2"],
  },
  "a refused publish counts as done": {
    file: "functions/src/aggregate.ts",
    find: "if (measurement && (await publish(current, step.next, measurement.asOf, config))) {",
    replace: "if (measurement && ((await publish(current, step.next, measurement.asOf, config)) || true)) {",
    breaks: ["I2"],
  },
  "a write is covered half a second after a publish": {
    file: "functions/src/decide.ts",
    find: "return at <= asOf - margin ||",
    replace: "return at <= asOf - margin + 500 ||",
    breaks: ["I2"],
  },
  "busy promises more than its poll": {
    file: "functions/src/decide.ts",
    find: "nextPollAt !== null && nextPollAt >= at);",
    replace: "nextPollAt !== null && nextPollAt + 1_000 >= at);",
    breaks: ["I2"],
    seed: 1623,
  },
  "nobody waits until a measurement is scheduled": {
    file: "functions/src/aggregate.ts",
    find: "        await schedule({ counterId, ...step.task });",
    replace: "        schedule({ counterId, ...step.task }).catch(() => undefined);",
    breaks: ["I2"],
    seed: 341,
  },
  "schedule after the publish": {
    file: "functions/src/aggregate.ts",
    find: "        for (const task of step.tasks) await schedule({ counterId, ...task });\n        if (measurement && (await publish(current, step.next, measurement.asOf, config))) {",
    replace:
      "        if (measurement && (await publish(current, step.next, measurement.asOf, config))) {\n          for (const task of step.tasks) await schedule({ counterId, ...task });",
    breaks: ["I2"],
  },
  "a counter with silent shards is not polled": {
    file: "functions/src/phase.ts",
    find: 'if (!hasSilentShards) return "idle";',
    replace: 'return "idle";',
    breaks: ["I2"],
  },
  "a poll that finds nothing new is the last": {
    file: "functions/src/decide.ts",
    find: "const isMissing = !previous && !measurement.counted && measurement.documents === 0;",
    replace:
      "const isMissing = previous ? cause.isPoll && next.writes === previous.writes : measurement.documents === 0;",
    breaks: ["I2", "I7"],
  },
  "a quiet phase does not schedule its poll": {
    file: "functions/src/decide.ts",
    find: "const poll = next.nextPollAt === null ? []",
    replace: 'const poll = next.nextPollAt === null || next.phase === "quiet" ? []',
    breaks: ["I2"],
  },
  "a poll gives way to an earlier one": {
    file: "functions/src/decide.ts",
    find: "if (isPoll && nextPollAt !== null) return nextPollAt > at;",
    replace: "if (isPoll && nextPollAt !== null) return nextPollAt !== at;",
    breaks: ["I2"],
  },
  "documents outside the index are left out": {
    file: "admin/src/sum.ts",
    find: "documents === all.data().count",
    replace: "documents <= all.data().count",
    breaks: ["I1", "I2"],
    seed: 74,
  },
  "a counter taken for new is not looked at when it is not": {
    file: "functions/src/publish.ts",
    find: "if (isPreconditionFailure(error)) return false;",
    replace: "if (isPreconditionFailure(error)) return !state.updateTime;",
    breaks: ["I1", "I2"],
  },
  "a measurement is published before it is due": {
    file: "functions/src/decide.ts",
    find: "if (asOf < due) return",
    replace: "if (asOf < due - 100_000) return",
    breaks: ["I4"],
  },
  "nobody puts an early aggregation off": {
    file: "functions/src/decide.ts",
    find: '? { do: "schedule", task: { due: Math.max(due, cause.at), isPoll: cause.isPoll } }',
    replace: '? { do: "nothing" }',
    breaks: ["I2"],
  },
  "wake drops what comes while it is busy": {
    file: "functions/src/wake.ts",
    find: "await other.catch(() => undefined);",
    replace: "return;",
    breaks: ["I2"],
  },
  "a scheduled measurement is remembered as a second later": {
    file: "functions/src/wake.ts",
    find: "step.task.due <= scheduled)",
    replace: "step.task.due <= scheduled + 1_000)",
    breaks: ["I2"],
    isRare: true,
  },
  "a publish covers writes without a margin": {
    file: "functions/src/decide.ts",
    find: "return at <= asOf - margin ||",
    replace: "return at <= asOf ||",
    breaks: ["I2"],
    seed: 512,
  },
  "a measurement is trusted without finding the write": {
    file: "functions/src/decide.ts",
    find: "includes(measurement, cause.shardId, cause.at)",
    replace: "cause.shardId !== undefined",
    breaks: ["I1", "I2"],
    seed: 97,
  },
  "fold without the precondition": {
    file: "functions/src/fold.ts",
    find: "batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });",
    replace: "batch.delete(shards.doc(id));",
    breaks: ["I5"],
  },
  "fold deletes first and adds to the base later": {
    file: "functions/src/fold.ts",
    find: "  batch.set(\n    shards.doc(BASE_SHARD),",
    replace: "  await batch.commit();\n  (batch as any).writes.length = 0;\n  batch.set(\n    shards.doc(BASE_SHARD),",
    breaks: ["I5", "I1"],
  },
  "measure goes by the shard count": {
    file: "admin/src/sum.ts",
    find: "  for (const doc of docs) {",
    replace: "  for (const doc of docs) {\n    if (Number(doc.id) >= 3) continue;",
    breaks: ["I1", "I2"],
  },
  "reset without the guard": {
    file: "admin/src/base.ts",
    find: "batch.update(base, correction, { lastUpdateTime: before.updateTime });",
    replace: "batch.update(base, correction);",
    breaks: ["I5"],
  },
  "source and shards are looked at one after the other": {
    file: "admin/src/reconcile.ts",
    find: "await transaction.get(aggregationOf(ref, source))",
    replace: "await aggregationOf(ref, source).get()",
    breaks: ["I5"],
    seed: 100,
  },
  "a correction that was sent and not heard of is made again": {
    file: "admin/src/reconcile.ts",
    find: "moveBase(batch, ref, shards, drift);",
    replace:
      'batch.set(counterDoc(ref).collection("shards").doc("base"), { count: FieldValue.increment(drift) }, { merge: true });',
    breaks: ["I5"],
    seed: 820,
  },
  "all increments have the same nonce": {
    file: "core/src/writePlan.ts",
    find: "Uint8Array.from({ length: NONCE_BYTES }, () => random() * 256)",
    replace: "new Uint8Array(NONCE_BYTES)",
    breaks: ["I5"],
  },
  "a server's keyed increment without its entry's precondition": {
    file: "admin/src/increment.ts",
    find: "writer.create(document, { by, shard, at: FieldValue.serverTimestamp() });",
    replace: "writer.set(document, { by, shard, at: FieldValue.serverTimestamp() });",
    breaks: ["I8"],
    seed: 72,
  },
  "an undo without its entry's precondition": {
    file: "admin/src/increment.ts",
    find: "batch.delete(entry.ref, { lastUpdateTime: entry.updateTime });",
    replace: "batch.delete(entry.ref);",
    breaks: ["I8"],
    seed: 686,
  },
  "nonce not compared": {
    file: "test/simulation/model/rules.ts",
    find: "    nonces.length === known.length + 1 &&\n    isEqual(nonces.slice(0, -1), known) &&",
    replace: "    isEqual(nonces.slice(0, known.length), known) &&",
    breaks: ["I5"],
  },
  "a window is removed after 10 s": {
    file: "core/src/layout.ts",
    find: "MARK_LIFETIME_SECONDS = 120;",
    replace: "MARK_LIFETIME_SECONDS = 10;",
    breaks: ["I5"],
    isRare: true,
  },
  "replan after an unknown outcome": {
    file: "client/src/web/commit.ts",
    find: "if (/^(aborted|permission-denied)$/.test((error as FirestoreError).code)) throw error;",
    replace: 'throw (error as FirestoreError).code === "unavailable" ? { code: "aborted" } : error;',
    breaks: ["I5"],
  },
  "the queue gets another plan than the commit before it": {
    file: "client/src/web/commit.ts",
    find: "  addWrites(batch, counter, plan, undoneShard);",
    replace: "  addWrites(batch, counter, isWatched ? plan : planFor(counter, plan.by), undoneShard);",
    breaks: ["I5"],
  },
  "fold before two minutes": {
    file: "functions/src/decide.ts",
    find: "quietSince: asOf - config.shrinkCooldown",
    replace: "quietSince: asOf - 1_000",
    breaks: ["I5"],
    seed: 394,
  },
  "a task finds no counter document and gives up": {
    file: "functions/src/aggregate.ts",
    find: "  await aggregate(backend, await readCounter(backend.counters.doc(counterId)), { at: due, isPoll });",
    replace:
      "  const state = await readCounter(backend.counters.doc(counterId));\n  if (state.published) await aggregate(backend, state, { at: due, isPoll });",
    breaks: ["I2"],
    seed: 91,
  },
  "a poll is for another instant than the document says": {
    file: "functions/src/next.ts",
    find: "Math.ceil(asOf + delay)",
    replace: "asOf + delay",
    breaks: ["I2"],
  },
  "a publish that is no poll's ends the polls": {
    file: "functions/src/decide.ts",
    find: "if (isPoll && nextPollAt !== null) return nextPollAt > at;",
    replace: "if (at <= asOf - margin) return true;\n  if (isPoll && nextPollAt !== null) return nextPollAt > at;",
    breaks: ["I2", "I7"],
    isRare: true,
  },
  "shards that were summed and not listed pass for none that are silent": {
    file: "functions/src/shards.ts",
    find: "if (!shards) return counted === undefined;",
    replace: "if (!shards) return false;",
    breaks: ["I2"],
  },
  "an idle counter stays idle if nothing was written to a new shard": {
    file: "functions/src/next.ts",
    find: "(previous.nextPollAt === null ? !isSilent : previous.nextPollAt > asOf)",
    replace: "(previous.nextPollAt === null || previous.nextPollAt > asOf)",
    breaks: ["I2"],
    seed: 2650,
  },
  "a counted collection is due when a shard says so": {
    file: "functions/src/interval.ts",
    find: "countedCollection === null && cause?.isNew",
    replace: "cause?.isNew",
    breaks: ["I4"],
    seed: 3778,
  },
  "nobody remembers for how long a counter has been quiet": {
    file: "functions/src/next.ts",
    find: "const quiet = quietFor(previous, asOf);",
    replace: "const quiet = 0;",
    breaks: ["I7"],
  },
  "a quiet counter with many shards is polled as rarely as one with few": {
    file: "functions/src/phase.ts",
    find: "shardCount > 1 ? Math.min(delay, maxInterval) : delay",
    replace: "delay",
    breaks: ["I2"],
  },
  "a counter grows at every write": {
    file: "functions/src/interval.ts",
    find: "isContended || growing ? config.minInterval :",
    replace: "cause ? config.minInterval :",
    breaks: ["I4"],
  },
};
