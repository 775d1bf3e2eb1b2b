/** An app that counts with Google's counter: old pages and servers, and the functions that run until they are killed. */
import { setTimeout as sleep } from "node:timers/promises";
import { adminAt, client } from "../../testkit/clients.ts";
import { type LegacyClient, type LegacyPage, legacyNodeClient, legacyWebClient } from "../../testkit/legacy/clients.ts";
import { compactPartial, moveIntoFields, moveIntoPartial, movePartial } from "../../testkit/legacy/functions.ts";

export interface LegacyApp {
  readonly pages: readonly [LegacyPage, ...LegacyPage[]];
  readonly servers: readonly LegacyClient[];
  /** Starts the functions, which move the shards of some documents. */
  startFunctions(documents: readonly string[]): Promise<void>;
  /** Whether they have moved shards. */
  haveMoved(): Promise<boolean>;
  /** Kills them if they run, in the middle of what they do. */
  killFunctions(): Promise<void>;
  close(): Promise<void>;
}

const PAGES = 6;
const SERVERS = 2;
const PAUSE_MS = 300;

/** Written by the description in testkit/legacy/README.md. */
export async function openLegacyApp(): Promise<LegacyApp> {
  const tabs = Array.from({ length: PAGES }, () => client());
  const backend = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string);
  // Two workers, for the first characters of the ids.
  const ids = Array.from({ length: PAGES + SERVERS }, (_, n) => `${n % 2}${crypto.randomUUID()}`);
  const pages = tabs.map((tab, n) => legacyWebClient(tab, ids[n]));
  const servers = ids.slice(PAGES).map((id) => legacyNodeClient(backend.firestore, id));
  let functions: ReturnType<typeof startFunctions> | undefined;
  return {
    pages: pages as [LegacyPage, ...LegacyPage[]],
    servers,
    async startFunctions(documents) {
      functions = startFunctions(documents, backend);
    },
    haveMoved: async () => (functions?.moved() ?? 0) > 0,
    killFunctions: async () => await functions?.kill(),
    async close() {
      await Promise.all([...tabs.map((tab) => tab.close()), backend.close()]);
    },
  };
}

/** Two controllers and two workers take turns. Killed, they end in the middle of a transaction. */
function startFunctions(documents: readonly string[], { firestore }: Pick<ReturnType<typeof adminAt>, "firestore">) {
  let moved = 0;
  let isKilled = false;
  const midway = async () => {
    if (isKilled) throw new Error("killed");
  };
  const worker = async (prefix: string) => {
    let count = 0;
    for (const document of documents) {
      count += await moveIntoPartial(firestore, document, prefix, midway);
      await movePartial(firestore, document, prefix, midway);
      await compactPartial(firestore, document, prefix);
    }
    return count;
  };
  const run = async () => {
    while (!isKilled) {
      // The extension runs one controller at a time; an instance of the kit handles several events.
      const controllers = [1, 2].map(() => moveIntoFields(firestore, documents, midway).catch(() => 0));
      const counts = await Promise.all(controllers);
      await sleep(PAUSE_MS);
      const workers = ["0", "1"].map((prefix) => worker(prefix).catch(() => 0));
      counts.push(...(await Promise.all(workers)));
      moved += counts.reduce((sum, count) => sum + count);
    }
  };
  const running = run();
  return {
    moved: () => moved,
    async kill() {
      isKilled = true;
      await running;
    },
  };
}
