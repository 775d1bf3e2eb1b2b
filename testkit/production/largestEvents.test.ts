/**
 * No document that triggers a function grows so large that its event is lost. The bounds are those of `firestore.rules` and of the code
 * that writes the documents; here they are added up, in the largest event that they allow.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { StoredFields } from "../../costs/src/index.ts";
import { FUNCTIONS } from "../../functions/src/decisions.ts";
import { MAX_OUTBOX_BYTES } from "../../functions/src/features/eventLog/outbox.ts";
import { eventBytes, isEventLost } from "./events.ts";

const text = (path: string) => readFileSync(path, "utf8");
const rules = text("firestore.rules");
/** A number in the rules. */
const bound = (pattern: RegExp) => Number(pattern.exec(rules)?.[1]);

/** Pub/Sub carries an event in base64 at worst, a third larger. */
const IN_BASE64 = 4 / 3;

/** The longest counter id or uid, and a generous size for the names and times beside the document. */
const ENVELOPE = 4_000;

const mostHashes = bound(/visitors\.size\(\) <= (\d+)/);
const hashes = { visitors: Array.from({ length: mostHashes }, () => "0123456789abcdef") };

/** A slot that others are removed beside may be fuller, by one for each. */
const mostMarks = bound(/let most = (\d+)/) + 4;
const at = { toMillis: () => 0 };
const nonces = Array.from({ length: mostMarks }, () => new Uint8Array(5));
const marks = Object.fromEntries(["0", "1", "2", "3", "4"].map((slot) => [slot, { at, nonces }]));
const shard = { shard: "9999", count: 0.5, writes: 1, at, marks };

const base = { shard: "base", count: 0.5, writes: 1, at };
const entry = { once: "u".repeat(1_500), by: 0.5, shard: "9999", at };
/** `core/src/topItems.test.ts` holds summaries below this. */
const items = { bytes: new Uint8Array(300_000) };
const outbox = { records: "x".repeat(MAX_OUTBOX_BYTES * 1.01) };

/** The app's own documents: its rules bound them. A lost one is counted with the next, or moved by the sweep. */
const OF_THE_APP = undefined;

/** Each trigger of triggers.ts: the document before and after the write. */
const LARGEST: Readonly<Record<string, readonly (StoredFields | undefined)[] | typeof OF_THE_APP>> = {
  shardcreated: [undefined, shard],
  shardzeroupdated: [shard, shard],
  baseupdated: [base, base],
  shardupdated: [shard, shard],
  documentcreated: OF_THE_APP,
  documentdeleted: OF_THE_APP,
  legacyshardwritten: OF_THE_APP,
  mergevisitors: [hashes, hashes],
  mergeitems: [undefined, items],
  logevents: [undefined, outbox],
  logincrements: [undefined, entry],
};

test("the largest event of each trigger that clients can make is below 512 kB", () => {
  const triggered = [...FUNCTIONS].flatMap(([name, { trigger }]) => ("path" in trigger ? [name] : []));
  expect(triggered.toSorted()).toEqual(Object.keys(LARGEST).toSorted());
  const sizes = Object.entries(LARGEST).flatMap(([name, versions]) =>
    versions ? [[name, (eventBytes(...versions) + ENVELOPE) * IN_BASE64] as const] : [],
  );
  expect(sizes.filter(([, bytes]) => !(bytes > 0) || isEventLost(bytes))).toEqual([]);
});
