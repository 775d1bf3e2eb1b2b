/** Reads some documents that show totals, and the totals. It writes nothing. */
import { randomInt } from "node:crypto";
import { type DocumentSnapshot, FieldPath, type Firestore, type Transaction } from "firebase-admin/firestore";
import { type Mirror, mirrorSources, parseMirrors } from "../../../core/src/index.ts";
import { latestSnapshot } from "../../../firestore/src/index.ts";
import type { CommandContext } from "../commandContext.ts";
import { deploymentsFor, variablesOf } from "./deployments.ts";
import { type MirroredTotal, type ProjectFacts, seen } from "./facts.ts";
import type { ReadMeter } from "./readMeter.ts";

/** Documents of each mirror that are looked at. */
const SAMPLE = 20;

/** The mirrors of the functions that count in the database; none if they could not be seen. Old apps write bridged fields, too. */
export function mirrorsOf({ functions, target }: Pick<ProjectFacts, "functions" | "target">): readonly Mirror[] {
  const [deployment] = deploymentsFor(seen(functions) ?? [], target);
  try {
    return parseMirrors((deployment && variablesOf(deployment)?.MIRRORS) ?? "", "MIRRORS");
  } catch {
    // An invalid list is told with the other parameters.
    return [];
  }
}

/** Cost: 2 reads per document, up to 20 of each mirror. */
export async function readMirrors(
  { firestore, target }: CommandContext,
  mirrors: readonly Mirror[],
  meter: ReadMeter,
): Promise<MirroredTotal[]> {
  if (mirrors.length === 0) return [];
  const snapshot = await latestSnapshot();
  const all = mirrors.map((mirror) =>
    // At one instant: a total and its mirror share a commit.
    firestore.runTransaction(async (transaction) => {
      const documents = await sample(transaction, firestore, mirror);
      const pairs = documents.flatMap((document) =>
        mirrorSources(document.ref.path, [mirror]).map(({ counterId }) => ({ document, counterId })),
      );
      meter.reads += Math.max(documents.length, 1) + pairs.length;
      if (pairs.length === 0) return [];
      const counters = await transaction.getAll(
        ...pairs.map(({ counterId }) => firestore.collection(target.collection).doc(counterId)),
      );
      return pairs.flatMap(({ document, counterId }, index): MirroredTotal[] => {
        const total: unknown = counters[index]?.get("total");
        const shown: unknown = document.get(new FieldPath(...mirror.field));
        return total === undefined
          ? []
          : [{ counter: counterId, document: document.ref.path, field: mirror.field.join("."), shown, total }];
      });
    }, snapshot),
  );
  return (await Promise.all(all)).flat();
}

/** Documents of a mirror, from a random letter on; if there are few, also from the first one on. */
async function sample(transaction: Transaction, firestore: Firestore, mirror: Mirror): Promise<DocumentSnapshot[]> {
  const { document } = mirror;
  const segments = document.split("/");
  if (!document.includes("{")) {
    const one = await transaction.get(firestore.doc(document));
    return one.exists ? [one] : [];
  }
  const parents = segments.slice(0, -1);
  const isNested = parents.some((segment) => segment.includes("{"));
  const collection = isNested
    ? firestore.collectionGroup(parents.at(-1) ?? "")
    : firestore.collection(parents.join("/"));
  const read = async (letter: string) => {
    const path = segments.map((segment) => segment.replaceAll(/\{\w+\}/g, letter));
    const from = isNested ? path.join("/") : path.at(-1);
    const page = await transaction.get(collection.orderBy(FieldPath.documentId()).startAt(from).limit(SAMPLE));
    return page.docs.filter(({ ref }) => mirrorSources(ref.path, [mirror]).length > 0);
  };
  const later = await read(String.fromCharCode(randomInt(48, 123)));
  if (later.length === SAMPLE) return later;
  const all = new Map([...(await read("\u0001")), ...later].map((one) => [one.ref.path, one]));
  return [...all.values()].slice(-SAMPLE);
}
