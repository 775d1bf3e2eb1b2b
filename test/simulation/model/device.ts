/**
 * The web SDK on one device with a persistent cache: what its tabs share, and what they show. Each user has a queue of writes, which is sent
 * while that user is signed in, and survives a reload. Documents are shown with the writes in the queue of the user who is signed in.
 *
 * As in the SDK (https://github.com/firebase/firebase-js-sdk, `local_store_impl.ts`, `view.ts`): an increment is added to the
 * value that was shown when it was made, whatever comes from the server meanwhile; an acknowledged write of a document that the cache lacks
 * leaves no document, and no listener to the cache hears of the acknowledgement.
 */
import type { Random } from "../../../core/testing/random.ts";
import { planted } from "../mutations/mutation.ts";
import { apply, type Change, Code, Refused, type Version, type Write } from "./database.ts";
import type { Connection } from "./network.ts";
import { authorize } from "./rules.ts";
import { type Fields, FieldValue, isEqual, isMap, type Micros, type Value, type Written } from "./values.ts";
import { DocumentReference, DocumentSnapshot, Firestore, FirestoreError, withoutPendingTimes } from "./webSdk.ts";

const MS = 1_000;

/** A write in a queue. */
interface Queued {
  readonly writes: readonly Write[];
  /** Path → the values to which its increments are added. */
  readonly bases: ReadonlyMap<string, Fields>;
  readonly resolve: () => void;
  readonly reject: (error: FirestoreError) => void;
}

/** What may have changed: everything, or the documents of some paths, because their writes were acknowledged or not. */
interface Told {
  readonly paths?: readonly string[];
  readonly isAcknowledgement?: boolean;
}

export class Device {
  user = "";
  isOnline = true;
  /** Whether the rules refuse this device's writes. */
  isRefused = false;
  /** What the server last said of a document. */
  readonly cache = new Map<string, Fields | undefined>();
  /** When the cached versions were committed. No older one replaces them. */
  readonly #cachedTimes = new Map<string, Micros>();
  readonly tabs = new Set<DeviceFirestore>();
  readonly random: Random;
  readonly #queues = new Map<string, Queued[]>();
  readonly #waiting = new Set<{ readonly user: string; readonly last: Queued; end(error?: FirestoreError): void }>();
  #isSending = false;

  readonly #isLossy: boolean;

  constructor(random: Random, isLossy: boolean) {
    this.random = random;
    this.#isLossy = isLossy;
  }

  get queue(): Queued[] {
    const queue = this.#queues.get(this.user) ?? [];
    this.#queues.set(this.user, queue);
    return queue;
  }

  /** How long a message takes. */
  delay(): Micros {
    return this.random.integer(1, 200) * MS;
  }

  /** Another user signs in, or none. All listeners begin anew. */
  signIn(user: string): void {
    if (user === this.user) return;
    const why = new FirestoreError(new Refused(Code.ABORTED, "another user"));
    const isTold = planted.device !== "its waits do not tell of another user";
    for (const one of this.#waiting) one.end(isTold ? why : undefined);
    this.#waiting.clear();
    this.user = user;
    for (const tab of this.tabs) tab.restart();
    this.tell(planted.device === "it shows what waits in the queue of another user" ? { paths: [] } : {});
    this.send();
  }

  setOnline(isOnline: boolean): void {
    this.isOnline = isOnline;
    for (const tab of this.tabs) tab.restart();
    this.send();
  }

  enqueue(writes: readonly Write[], resolve: () => void, reject: Queued["reject"]): void {
    const bases = new Map<string, Fields>();
    for (const { path, data } of writes) bases.set(path, incrementedIn(data, this.view(path).fields ?? {}));
    this.queue.push({ writes, bases, resolve, reject });
    this.tell({ paths: writes.map(({ path }) => path) });
    this.send();
  }

  /** Resolves when the writes that are now in the queue have an outcome; rejects when another user signs in. */
  whenSent(): Promise<void> {
    const last = this.queue.at(-1);
    if (!last || planted.device === "its queue is told as sent after a reload") return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.add({ user: this.user, last, end: (error) => (error ? reject(error) : resolve()) });
    });
  }

  /** A document as it is shown, and whether the cache or the queue has it at all. */
  view(path: string): { readonly isKnown: boolean; readonly fields: Fields | undefined; readonly isPending: boolean } {
    let fields = this.cache.get(path);
    let isPending = false;
    for (const { writes, bases } of this.queue) {
      for (const write of writes) {
        if (write.path !== path) continue;
        isPending = true;
        const base = bases.get(path);
        if (base && write.kind === "merge") fields = withValues(fields ?? {}, base);
        fields = apply(write, fields, Number.NaN);
      }
    }
    if (planted.device === "it shows no marks" && fields) fields = withoutMarks(fields);
    return { isKnown: this.cache.has(path) || isPending, fields: withoutPendingTimes(fields), isPending };
  }

  tell(change: Told): void {
    for (const tab of this.tabs) tab.tell(change);
  }

  /** The server's word of a document. */
  received({ path, fields, updateTime }: Version): void {
    const isOlder = updateTime < (this.#cachedTimes.get(path) ?? 0);
    if (isOlder && planted.device !== "its cache takes older versions") return;
    this.#cachedTimes.set(path, updateTime);
    this.cache.set(path, fields);
  }

  /** Sends the queue in its order, one write at a time. Without an answer, the write is sent again. */
  send(): void {
    const [tab] = this.tabs;
    const [next] = this.queue;
    if (this.#isSending || !tab || !next || !this.isOnline) return;
    this.#isSending = true;
    const { user } = this;
    const { scheduler } = tab.connection.network;
    const isLost = this.random.chance(0.1) && this.#isLossy;
    const again = () => {
      this.#isSending = false;
      this.send();
    };
    scheduler.after(this.delay(), () => {
      if (user !== this.user || !this.isOnline || this.tabs.size === 0) return again();
      const [sender] = this.tabs as unknown as [DeviceFirestore];
      const { connection } = sender;
      let refused: Refused | undefined;
      try {
        connection.commit(next.writes, (changes) => this.authorize(changes));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refused = error;
      }
      connection.network.log(
        connection.process,
        () => `${next.writes[0]?.path} at the server: ${refused?.message ?? "ok"}`,
      );
      const committed = next.writes.map(({ path }) => connection.database.get(path));
      scheduler.after(this.delay(), () => {
        // The stream was cut before the answer.
        if (isLost || user !== this.user || !this.isOnline || this.tabs.size === 0) return again();
        this.queue.shift();
        if (!refused)
          for (const [i, write] of next.writes.entries()) this.#acknowledged(write, committed[i] as Version);
        if (refused) next.reject(new FirestoreError(refused));
        else next.resolve();
        for (const one of this.#waiting) {
          if (one.last !== next) continue;
          this.#waiting.delete(one);
          one.end();
        }
        const isTold = !refused || planted.device !== "it does not tell of refused writes";
        if (isTold) this.tell({ paths: next.writes.map(({ path }) => path), isAcknowledgement: !refused });
        again();
      });
    });
  }

  /** @throws Refused unless the rules allow the changes to the user who is signed in */
  authorize(changes: readonly Change[]): void {
    for (const { after } of changes) {
      const [, once] = /\/tallyEntries\/(.+)$/.exec(after.path) ?? [];
      if (this.isRefused || (once !== undefined && once !== this.user))
        throw new Refused(Code.PERMISSION_DENIED, after.path);
    }
    authorize(changes);
  }

  /** The answer has the incremented values. What the cache lacks, it lacks afterwards, unless the write was of a whole document. */
  #acknowledged(write: Write, { fields: committed, updateTime }: Version): void {
    const { path, kind, data } = write;
    // The cache has a later version.
    if ((this.#cachedTimes.get(path) ?? 0) >= updateTime) return;
    if (this.cache.get(path) || kind !== "merge") this.#cachedTimes.set(path, updateTime);
    if (kind !== "merge") this.cache.set(path, committed);
    else if (this.cache.get(path)) {
      const merged = apply(write, this.cache.get(path), 0) as Fields;
      const times = committed ? withValues(merged, timesIn(data, committed)) : merged;
      this.cache.set(path, committed ? withValues(times, incrementedIn(data, committed)) : merged);
    } else this.cache.delete(path);
  }
}

/** The SDK in one tab of a device. */
export class DeviceFirestore extends Firestore {
  readonly device: Device;
  readonly #listeners = new Set<{ tell(change: Told): void; restart(): void }>();

  constructor(connection: Connection, device: Device) {
    super(connection);
    this.device = device;
    device.tabs.add(this);
  }

  /** The tab is closed. */
  close(): void {
    this.connection.process.isDead = true;
    this.device.tabs.delete(this);
  }

  tell(change: Told): void {
    for (const listener of [...this.#listeners]) listener.tell(change);
  }

  /** All listeners begin anew, without the server's word. */
  restart(): void {
    this.offlineUntil = this.device.isOnline ? 0 : Number.POSITIVE_INFINITY;
    for (const listener of [...this.#listeners]) listener.restart();
  }

  override authorize(changes: readonly Change[]): void {
    this.device.authorize(changes);
  }

  override enqueue(writes: readonly Write[]): Promise<void> {
    return new Promise((resolve, reject) => this.device.enqueue(writes, resolve, reject));
  }

  override whenSent(): Promise<void> {
    return this.device.whenSent();
  }

  override checkRead(path: string): void {
    if (!this.device.isOnline) throw new Refused(Code.UNAVAILABLE, "offline");
    if (!this.#mayRead(path)) throw new Refused(Code.PERMISSION_DENIED, path);
  }

  override async get(ref: DocumentReference): Promise<DocumentSnapshot> {
    const { device } = this;
    const { scheduler } = this.connection.network;
    if (device.isOnline) {
      await scheduler.sleep(device.delay(), this.connection.process);
      if (!this.#mayRead(ref.path)) throw new FirestoreError(new Refused(Code.PERMISSION_DENIED, ref.path));
      device.received(this.connection.database.get(ref.path));
      await scheduler.sleep(device.delay(), this.connection.process);
    }
    return this.getFromCache(ref);
  }

  override getFromCache(ref: DocumentReference): DocumentSnapshot {
    const { isKnown, fields, isPending } = this.device.view(ref.path);
    if (!isKnown) throw new FirestoreError(new Refused(Code.UNAVAILABLE, "not in the cache"));
    const metadata = { fromCache: !this.device.isOnline, hasPendingWrites: isPending };
    return new DocumentSnapshot(ref, fields, metadata, this.device.cache.get(ref.path));
  }

  override listen(
    ref: DocumentReference,
    next: (snapshot: DocumentSnapshot) => void,
    error: (error: FirestoreError) => void,
  ): () => void {
    const { device } = this;
    const { path } = ref;
    const { network, process, database } = this.connection;
    const { scheduler } = network;
    let hasServersWord = false;
    let hasTold = false;
    let told: unknown;
    let attempt = 0;
    let deliveredAt: Micros = 0;
    let hasEnded = false;
    const show = () => {
      const { isKnown, fields, isPending } = device.view(path);
      // An empty cache tells nothing while the server may answer.
      if (!hasTold && !hasServersWord && !(isKnown && fields) && device.isOnline) return;
      const snapshot = { fields, fromCache: !hasServersWord, hasPendingWrites: isPending };
      if (hasTold && isEqual(told as Value, snapshot as unknown as Value)) return;
      [hasTold, told] = [true, snapshot];
      scheduler.after(0, () => hasEnded || next(new DocumentSnapshot(ref, fields, snapshot)), process);
    };
    const deliver = (ofAttempt: number) => {
      if (hasEnded || !device.isOnline) return;
      deliveredAt = Math.max(scheduler.now + device.delay(), deliveredAt);
      const version = database.get(path);
      const arrive = () => {
        if (hasEnded || ofAttempt !== attempt || !device.isOnline) return;
        if (!this.#mayRead(path)) {
          end();
          return error(new FirestoreError(new Refused(Code.PERMISSION_DENIED, path)));
        }
        device.received(version);
        hasServersWord = true;
        device.tell({ paths: [path] });
        show();
      };
      scheduler.after(deliveredAt - scheduler.now, arrive, process);
    };
    const follow = (changed: readonly string[]) => changed.includes(path) && deliver(attempt);
    const listener = {
      tell: ({ paths }: Told) => (!paths || paths.includes(path)) && show(),
      restart() {
        attempt++;
        hasServersWord = false;
        show();
        deliver(attempt);
      },
    };
    const end = () => {
      hasEnded = true;
      this.#listeners.delete(listener);
      network.listeners.delete(follow);
    };
    this.#listeners.add(listener);
    network.listeners.add(follow);
    listener.restart();
    return end;
  }

  override listenToCache(collection: string, next: (snapshot: never) => void): () => void {
    const { device } = this;
    const { network, process } = this.connection;
    const shown = new Map<string, Fields | undefined>();
    let hasTold = false;
    const isIn = (path: string) => path.startsWith(`${collection}/`);
    const tell = ({ paths, isAcknowledgement }: Told) => {
      const known = [...device.cache.keys(), ...device.queue.flatMap(({ writes }) => writes.map(({ path }) => path))];
      const changed = (paths ?? [...shown.keys(), ...known]).filter(isIn);
      // Of documents that the cache lacks.
      if (isAcknowledgement && changed.every((path) => !device.cache.get(path) && !device.view(path).fields)) return;
      if (changed.length === 0 && hasTold) return;
      hasTold = true;
      for (const path of changed) shown.set(path, device.view(path).fields);
      const docs = [...shown].flatMap(([path, fields]) =>
        fields ? [new DocumentSnapshot(new DocumentReference(this, path), fields)] : [],
      );
      network.scheduler.after(0, () => this.#listeners.has(listener) && next({ docs } as never), process);
    };
    const listener = { tell, restart() {} };
    this.#listeners.add(listener);
    tell({});
    return () => void this.#listeners.delete(listener);
  }

  #mayRead(path: string): boolean {
    const [, once] = /\/tallyEntries\/(.+)$/.exec(path) ?? [];
    return once === undefined || once === this.device.user;
  }
}

/** The values of the incremented fields of a write. */
function incrementedIn(data: Written | undefined, values: Fields): Fields {
  return pick(data, values, (written) => written.kind === "increment", 0);
}

function timesIn(data: Written | undefined, values: Fields): Fields {
  return pick(data, values, (written) => written.kind === "serverTimestamp", null);
}

function pick(data: Written | undefined, values: Fields, is: (written: FieldValue) => boolean, missing: Value): Fields {
  const found: Record<string, Value> = {};
  if (!isMap(data)) return found;
  for (const [name, written] of Object.entries(data as Record<string, Written>)) {
    if (written instanceof FieldValue) {
      if (is(written)) found[name] = values[name] ?? missing;
    } else if (isMap(written))
      found[name] = pick(written, (isMap(values[name]) ? values[name] : {}) as Fields, is, missing);
  }
  return found;
}

/** Fields with some values replaced. */
function withValues(fields: Fields, values: Fields): Fields {
  const merged: Record<string, Value> = { ...fields };
  for (const [name, value] of Object.entries(values)) {
    merged[name] = isMap(value)
      ? withValues((isMap(fields[name]) ? fields[name] : {}) as Fields, value as Fields)
      : value;
  }
  return merged;
}

function withoutMarks({ direct, marks: _, ...rest }: Fields): Fields {
  return isMap(direct) ? { ...rest, direct: withoutMarks(direct as Fields) } : rest;
}
