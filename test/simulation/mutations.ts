/**
 * Deliberate mistakes in the code under test, and the invariants that break. The simulation is worth what it finds: each
 * of these must be found.
 */
import type { Mutation } from "./bundle.ts";

export const mutations: Record<string, Mutation & { readonly breaks: readonly string[] }> = {
  "publish without the guard": {
    file: "functions/src/publish.ts",
    find: "batch.update(ref, { ...document }, { lastUpdateTime: updateTime });",
    replace: "batch.update(ref, { ...document });",
    breaks: ["I3", "I4"],
  },
  "publish creates over whatever is there": {
    file: "functions/src/publish.ts",
    find: "else batch.create(ref, document);",
    replace: "else batch.set(ref, document);",
    breaks: ["I3", "I4"],
  },
  "a recount that finds nothing new is not published": {
    file: "functions/src/publish.ts",
    find: "if (recount) return true;",
    replace:
      "if (recount) return previous ? saidBy(previous) !== saidBy(next) || recount.correction !== undefined : next.shardDocuments > 0;",
    breaks: ["I2"],
  },
  "count and shards are looked at one after the other": {
    file: "functions/src/recount.ts",
    find: "await transaction.get(firestore.collection(path).count()),",
    replace: "await firestore.collection(path).count().get(),",
    breaks: ["I1"],
  },
  "a deletion is dated by a clock that may be behind": {
    file: "functions/src/counted.ts",
    find: "Math.max(Date.parse(eventTime) + 1, now)",
    replace: "now",
    breaks: ["I2"],
  },
  "a mirror is written after the publish": {
    file: "functions/src/publish.ts",
    find: "  await batch.commit();\n",
    replace:
      "  const rest = mirror ? (batch as any).writes.splice(recount?.correction ? 2 : 1, 1) : [];\n  await batch.commit();\n  if (rest.length > 0) await ref.firestore.doc(rest[0].path).update(rest[0].data);\n",
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
    find: "const points = { [key]: stateOf(state) };",
    replace: "const points = { [key]: stateOf({ ...next, asOf: state.asOf }) };",
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
    file: "client/src/admin/receipt.ts",
    find: "      batch.create(receipt, ",
    replace: "      void (",
    breaks: ["I5"],
  },
  "a receipt is set instead of created": {
    file: "client/src/admin/receipt.ts",
    find: "batch.create(receipt, ",
    replace: "batch.set(receipt, ",
    breaks: ["I5"],
  },
  "each try has a receipt of its own": {
    file: "client/src/admin/receipt.ts",
    find: "batch.create(receipt, ",
    replace: "batch.create(receipt.parent.doc(), ",
    breaks: ["I5"],
  },
  "increments made while a commit is under way are forgotten": {
    file: "client/src/admin/combine.ts",
    find: "    if (next === share) next = undefined;\n    if (share.sum !== 0) await commit(share.sum);",
    replace: "    if (share.sum !== 0) await commit(share.sum);\n    if (next === share) next = undefined;",
    breaks: ["I5"],
  },
  "combined increments count as the first alone": {
    file: "client/src/admin/combine.ts",
    find: "next.sum += by;",
    replace: "next.sum ||= by;",
    breaks: ["I5"],
  },
  "a server that has committed once never commits again": {
    file: "client/src/admin/combine.ts",
    find: "    last = share.done.catch(() => undefined);",
    replace: "    last = new Promise(() => {});",
    breaks: ["answers"],
  },
  "a refused reset counts as done": {
    file: "client/src/admin/maintain.ts",
    find: "if (!isPreconditionFailure(error)) throw error;",
    replace: "if (!isPreconditionFailure(error)) throw error;\n        return;",
    breaks: ["I5"],
  },
  "the interval is a millisecond": {
    file: "functions/src/interval.ts",
    find: "  return Math.min(Math.max(1_000 * Math.max(untilVisible, untilAffordable), minInterval), maxInterval);",
    replace: "  return Math.min(untilVisible, untilAffordable, minInterval, maxInterval, 1);",
    breaks: ["I4"],
  },
  "a recount locks what it reads": {
    file: "functions/src/recount.ts",
    find: "{ readOnly: true },",
    replace: "{},",
    breaks: ["I6"],
  },
  "every counter is swept for ever": {
    file: "functions/src/publish.ts",
    find: "unsettled: shardCount > config.minShards",
    replace: "unsettled: true || shardCount > config.minShards",
    breaks: ["I7"],
  },
  "publish as of now instead of the snapshot's instant": {
    file: "functions/src/aggregate.ts",
    find: "await publish(current, next, measurement, mirror, keptBy(previous, next, config))",
    replace:
      "await publish(current, next, { ...measurement, asOf: (measurement.asOf as any).constructor.fromMillis(now()) }, mirror, keptBy(previous, next, config))",
    breaks: ["I1", "I2"],
  },
  "a refused publish counts as done": {
    file: "functions/src/aggregate.ts",
    find: "if (await publish(current, next, measurement, mirror, keptBy(previous, next, config))) {",
    replace: "if ((await publish(current, next, measurement, mirror, keptBy(previous, next, config))) || true) {",
    breaks: ["I2"],
  },
  "wake trusts the published total without looking at when": {
    file: "functions/src/outlook.ts",
    find: 'if (committedAt <= outlook.coveredUntil) return "covered";',
    replace: 'if (committedAt <= outlook.coveredUntil + 500) return "covered";',
    breaks: ["I2"],
  },
  "a polled counter covers an interval too much": {
    file: "functions/src/outlook.ts",
    find: "coveredUntil: isPolled(counter, config) ? due + config.minInterval",
    replace: "coveredUntil: isPolled(counter, config) ? due + 3 * config.minInterval",
    breaks: ["I2"],
  },
  "nobody waits until the follow-up is scheduled": {
    file: "functions/src/aggregate.ts",
    find: "      await schedule({ counterId, due: Math.max(due, wanted.committedAt) });",
    replace: "      schedule({ counterId, due: Math.max(due, wanted.committedAt) }).catch(() => undefined);",
    breaks: ["I2"],
  },
  "no second measurement after a polled state": {
    file: "functions/src/aggregate.ts",
    find: "|| (previous && isPolled(previous, config))",
    replace: "",
    breaks: ["I2"],
  },
  "a counter with silent shards is not polled": {
    file: "functions/src/outlook.ts",
    find: "counter.silentShards > 0 || ",
    replace: "",
    breaks: ["I2"],
  },
  "a poll that finds nothing new is the last": {
    file: "functions/src/aggregate.ts",
    find: "if (!certain || isPolled(next, config)",
    replace:
      "if (!certain || !news || isPolled(next, config)) if (!news && certain) return { outlook: after, counter: next };\n    if (!certain || isPolled(next, config)",
    breaks: ["I2"],
  },
  "the poll after one that found nothing new is at a time that is past": {
    file: "functions/src/aggregate.ts",
    find: "const due = previous && certain && !news ? nextPoll(previous, next.asOf, config) : after.due;",
    replace: "const due = previous && certain && !news ? previous.asOf : after.due;",
    breaks: ["I2"],
  },
  "a measurement that may lack the write it was made for is repeated late": {
    file: "functions/src/aggregate.ts",
    find: "previous && certain && !news",
    replace: "previous && !news",
    breaks: ["I2"],
  },
  "shards are folded, and the counter is measured no more": {
    file: "functions/src/aggregate.ts",
    find: "(await foldAway(surplus)) > 0) measurement = await measureCounter(backend, current.ref);",
    replace:
      "(await foldAway(surplus)) > 0) measurement = { ...measurement, shards: measurement.shards.filter((one) => !surplus.includes(one)), total: measurement.total - surplus.reduce((sum, { count }) => sum + count, 0) };",
    breaks: ["I1", "I2"],
  },
  "a counter taken for new is not looked at when it is not": {
    file: "functions/src/publish.ts",
    find: "if (isPreconditionFailure(error)) return false;",
    replace: "if (isPreconditionFailure(error)) return !seen.updateTime;",
    breaks: ["I1", "I2"],
  },
  "a measurement is published before it is due": {
    file: "functions/src/aggregate.ts",
    find: "if (before && toMillis(measurement.asOf) < before.due) {",
    replace: "if (before && toMillis(measurement.asOf) < before.due && false) {",
    breaks: ["I4"],
  },
  "nobody puts an early aggregation off": {
    file: "functions/src/aggregate.ts",
    find: "if (previous && before && now() < before.due) return await putOff(previous, before.due);",
    replace:
      "if (previous && before && now() < before.due) return { outlook: { due: before.due, coveredUntil: before.due }, counter: previous };",
    breaks: ["I2"],
  },
  "wake remembers before it has scheduled": {
    file: "functions/src/wake.ts",
    find: "    await backend.schedule({ counterId, due: promised });\n    remember(counterId, { due, coveredUntil: promised });",
    replace:
      "    remember(counterId, { due, coveredUntil: promised });\n    await backend.schedule({ counterId, due: promised });",
    breaks: ["I2"],
  },
  "wake drops what comes while it is busy": {
    file: "functions/src/wake.ts",
    find: "await other.catch(() => undefined);",
    replace: "return;",
    breaks: ["I2"],
  },
  "the memo covers a second more than it may": {
    file: "functions/src/wake.ts",
    find: "    memo.set(counterId, outlook);",
    replace: "    memo.set(counterId, { ...outlook, coveredUntil: outlook.coveredUntil + 1_000 });",
    breaks: ["I2"],
  },
  "the memo leaves no margin": {
    file: "functions/src/outlook.ts",
    find: "counter.asOf - margin",
    replace: "counter.asOf",
    breaks: ["I2"],
  },
  "wake trusts the event instead of finding its write": {
    file: "functions/src/aggregate.ts",
    find: "(wanted.shardId !== undefined && includes(measurement, wanted.shardId, wanted.committedAt))",
    replace: "wanted.shardId !== undefined",
    breaks: ["I1", "I2"],
  },
  "fold without the precondition": {
    file: "functions/src/fold.ts",
    find: "batch.delete(shards.doc(id), { lastUpdateTime: updatedAt });",
    replace: "batch.delete(shards.doc(id));",
    breaks: ["I5"],
  },
  "fold deletes first and adds to the base later": {
    file: "functions/src/fold.ts",
    find: "    batch.set(\n      shards.doc(BASE_SHARD),",
    replace:
      "    await batch.commit();\n    (batch as any).writes.length = 0;\n    batch.set(\n      shards.doc(BASE_SHARD),",
    breaks: ["I5", "I1"],
  },
  "measure goes by the shard count": {
    file: "functions/src/measure.ts",
    find: "  for (const doc of snapshot.docs) {",
    replace: "  for (const doc of snapshot.docs) {\n    if (Number(doc.id) >= 3) continue;",
    breaks: ["I1", "I2"],
  },
  "a task measures before it is due": {
    file: "functions/src/aggregate.ts",
    find: "if (previous && before && wanted.committedAt <= previous.asOf - margin)",
    replace: "if (previous && before && wanted.committedAt <= previous.asOf + 2_000)",
    breaks: ["I2"],
  },
  "reset without the guard": {
    file: "client/src/admin/base.ts",
    find: "batch.update(base, correction, { lastUpdateTime: before.updateTime });",
    replace: "batch.update(base, correction);",
    breaks: ["I5"],
  },
  "source and shards are looked at one after the other": {
    file: "client/src/admin/reconcile.ts",
    find: "await transaction.get(aggregationOf(ref, source))",
    replace: "await aggregationOf(ref, source).get()",
    breaks: ["I5"],
  },
  "a correction that was sent and not heard of is made again": {
    file: "client/src/admin/reconcile.ts",
    find: "moveBase(batch, ref, shards, drift);",
    replace:
      'batch.set(counterDoc(ref).collection("shards").doc("base"), { count: FieldValue.increment(drift) }, { merge: true });',
    breaks: ["I5"],
  },
  "a web client repeats the slot": {
    file: "core/src/writePlan.ts",
    find: "turn % MARK_SLOTS",
    replace: "0",
    breaks: ["I5"],
  },
  "a server's keyed increment without its entry's precondition": {
    file: "client/src/admin/increment.ts",
    find: "writer.create(document, { by, shard, at: FieldValue.serverTimestamp() });",
    replace: "writer.set(document, { by, shard, at: FieldValue.serverTimestamp() });",
    breaks: ["I8"],
  },
  "an undo without its entry's precondition": {
    file: "client/src/admin/increment.ts",
    find: "batch.delete(entry.ref, { lastUpdateTime: entry.updateTime });",
    replace: "batch.delete(entry.ref);",
    breaks: ["I8"],
  },
};
