/**
 * The documents that Google's counter counts in: those of the collections that the maps name, and those that have
 * `_counter_shards_`, whether they exist or not.
 */
import {
  AggregateField,
  type CollectionGroup,
  FieldPath,
  type Firestore,
  type Query,
  type QueryDocumentSnapshot,
} from "firebase-admin/firestore";
import { codeOf, FAILED_PRECONDITION, type Mirror, mirrorSources, sumOrZero } from "../../core/src/index.ts";
import { LEGACY_SHARDS, sumField, unmappedNumbers } from "../../firestore/src/index.ts";

/** Documents listed at a time. */
const PAGE_SIZE = 300;

/** The documents of some maps that are listed together. */
interface Source {
  readonly query: Query;
  readonly mirrors: readonly Mirror[];
}

/** What one map names. */
export interface MapSurvey {
  /** `pages/{page}.visits` */
  readonly field: string;
  /** `views:{page}` */
  readonly counters: string;
  /** Documents of the collection. */
  readonly documents: number;
  /** Those whose field is a number, and the sum of these; `null` where a collection group has no index of the field. */
  readonly numbers: number | null;
  readonly total: number | null;
}

/** Where the documents of the maps are: a query for each collection, or collection group if there are variables above it. */
function sourcesOf(firestore: Firestore, mirrors: readonly Mirror[]): Source[] {
  const sources = new Map<string, Source & { mirrors: Mirror[] }>();
  for (const mirror of mirrors) {
    const path = mirror.document.slice(0, mirror.document.lastIndexOf("/"));
    const isGroup = path.includes("{");
    const id = path.slice(path.lastIndexOf("/") + 1);
    const key = isGroup ? `group ${id}` : path;
    const source = sources.get(key) ?? {
      query: isGroup ? firestore.collectionGroup(id) : firestore.collection(path),
      mirrors: [],
    };
    source.mirrors.push(mirror);
    sources.set(key, source);
  }
  return [...sources.values()];
}

/** How much there is to do. Cost: for each map, 1 read per 1,000 documents and 1 per 1,000 numbers; 1 per 1,000 legacy shards. */
export async function survey(firestore: Firestore, mirrors: readonly Mirror[]) {
  const maps = sourcesOf(firestore, mirrors).flatMap(({ query, mirrors: ofSource }) =>
    ofSource.map(async (mirror): Promise<MapSurvey> => {
      const field = new FieldPath(...mirror.field);
      const numbers = query.where(field, ">=", Number.NEGATIVE_INFINITY);
      const sums = numbers.aggregate({ count: AggregateField.count(), sum: sumField(field) }).get();
      const [documents, found] = await Promise.all([query.count().get(), sums.catch(withoutIndex)]);
      return {
        field: `${mirror.document}.${mirror.field.join(".")}`,
        counters: mirror.counters,
        documents: documents.data().count,
        numbers: found?.data().count ?? null,
        total: found ? sumOrZero(found.data().sum) : null,
      };
    }),
  );
  const legacy = legacyShards(firestore).count().get();
  return { maps: await Promise.all(maps), legacyShards: (await legacy).data().count };
}

function withoutIndex(error: unknown): undefined {
  if (codeOf(error) !== FAILED_PRECONDITION) throw error;
}

function legacyShards(firestore: Firestore): CollectionGroup {
  return firestore.collectionGroup(LEGACY_SHARDS);
}

/** How many documents that are left alone are kept in memory. */
const MAX_LEFT_ALONE = 1_000;

/** What the listing has found that cannot be moved. */
export interface LeftAlone {
  /** Documents whose field is no number; documents of a collection group, or with a colon in an id, that no map is about. */
  readonly documents: { readonly document: string; readonly reason: string }[];
  /** How many there are beyond the first thousand. */
  moreDocuments: number;
  /** Fields in `_counter_shards_` that no map names: `books.sold` → how many shards have them. */
  readonly fields: Map<string, number>;
}

/**
 * The documents of the maps, collection by collection, with the mapped fields. Cost: 1 read per document.
 *
 * @param after         the document after which to resume
 * @param madeProgress  called after each page
 */
export async function* mappedDocuments(
  firestore: Firestore,
  mirrors: readonly Mirror[],
  after: string | undefined,
  madeProgress: () => void,
): AsyncGenerator<QueryDocumentSnapshot> {
  const sources = sourcesOf(firestore, mirrors);
  const resumed = sources.findIndex((source) => after !== undefined && mirrorSources(after, source.mirrors).length > 0);
  for (const [index, source] of sources.entries()) {
    if (index < resumed) continue;
    const query = source.query.select(...source.mirrors.map(({ field }) => new FieldPath(...field)));
    yield* all(query, madeProgress, index === resumed && after ? firestore.doc(after) : undefined);
  }
}

/**
 * Paths of the documents to move from: first those with a number in a mapped field, then those with legacy shards. Cost: 1
 * read per document and per shard.
 *
 * @param leftAlone     gets what is passed over
 * @param madeProgress  called after each page
 */
export async function* documentsToMove(
  firestore: Firestore,
  mirrors: readonly Mirror[],
  after: string | undefined,
  leftAlone: LeftAlone,
  madeProgress: () => void,
): AsyncGenerator<string> {
  for await (const document of mappedDocuments(firestore, mirrors, after, madeProgress)) {
    if (hasNumber(document, mirrors, leftAlone)) yield document.ref.path;
  }
  let last: string | undefined;
  for await (const shard of all(legacyShards(firestore), madeProgress)) {
    const document = shard.ref.parent.parent?.path ?? "";
    const fields = mirrorSources(document, mirrors);
    const collection = document.slice(0, document.lastIndexOf("/"));
    for (const field of unmappedNumbers(shard, fields)) {
      const name = `${collection}.${field}`;
      leftAlone.fields.set(name, (leftAlone.fields.get(name) ?? 0) + 1);
    }
    if (fields.length > 0 && document !== last) yield document;
    last = document;
  }
}

function hasNumber(document: QueryDocumentSnapshot, mirrors: readonly Mirror[], leftAlone: LeftAlone): boolean {
  const { path } = document.ref;
  const fields = mirrorSources(path, mirrors);
  const values = fields.map(({ field }) => document.get(new FieldPath(...field)) as unknown);
  const others = values.filter((value) => value !== undefined && !Number.isFinite(value));
  for (const value of others) leave(leftAlone, path, `the field is ${JSON.stringify(value).slice(0, 100)}`);
  if (fields.length === 0) leave(leftAlone, path, "no map is about its path");
  return values.some((value) => Number.isFinite(value));
}

function leave(leftAlone: LeftAlone, document: string, reason: string): void {
  if (leftAlone.documents.length < MAX_LEFT_ALONE) leftAlone.documents.push({ document, reason });
  else leftAlone.moreDocuments++;
}

async function* all(
  query: Query,
  madeProgress: () => void,
  after?: FirebaseFirestore.DocumentReference,
): AsyncGenerator<QueryDocumentSnapshot> {
  const pages = query.orderBy(FieldPath.documentId()).limit(PAGE_SIZE);
  let page = await (after ? pages.startAfter(after) : pages).get();
  for (;;) {
    madeProgress();
    yield* page.docs;
    const last = page.docs.at(-1);
    if (page.size < PAGE_SIZE || !last) return;
    page = await pages.startAfter(last.ref).get();
  }
}
