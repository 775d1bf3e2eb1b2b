/** `delete`: deletes counters and all that belongs to them. Cost: 1 read and 1 delete per document. */
import { deleteCounter, extentOf } from "../../admin/src/maintain.ts";
import { consent } from "./consent.ts";
import {
  endRound,
  goRound,
  groupInWords,
  idsOf,
  type Selection,
  type SelectionOptions,
  selectionOf,
  sizeOf,
} from "./round.ts";
import { paint, print, printJson, tell } from "./screen.ts";
import type { Session } from "./session.ts";
import { rounded, several } from "./words.ts";

interface Deleted {
  /** The counter document included. */
  readonly documents: number;
}

export async function deleteCounters(session: Session, options: SelectionOptions, ids: string[]): Promise<void> {
  const selection = selectionOf(ids, options);
  for (const id of ids) session.ref(id);
  await consent(session, {
    what: `Delete ${await described(session, selection)} and all that belongs to ${ids.length === 1 ? "it" : "them"}`,
    extent: async () => several(await countDocuments(session, selection), "document"),
    typed: selection.group === "" ? "ungrouped" : selection.group,
  });
  let documents = 0;
  const round = await goRound<Deleted>(session, selection, {
    doing: "Deleting",
    work: async (ref, tellShare) => {
      let deleted = 0;
      await deleteCounter(ref, {
        onProgress: (done, all) => {
          documents += done - deleted;
          deleted = done;
          tellShare(done / all);
        },
      });
      return { documents: deleted };
    },
    detail: () => several(documents, "document"),
  });
  if (session.json) printJson({ ...session.target, after: round.after ?? null, counters: round.done });
  else print(`${several(round.done.length, "counter")} deleted, ${several(documents, "document")}.`);
  endRound(round);
}

async function described(session: Session, selection: Selection): Promise<string> {
  const { ids, group, after } = selection;
  if (group === undefined) return ids.length <= 3 ? ids.join(", ") : several(ids.length, "counter");
  const rest = after === undefined ? "" : ` after ${after}`;
  return `${several(await sizeOf(session, selection), "counter")} of ${groupInWords(group)}${rest}`;
}

/** Cost: 1 read per 1,000 documents, at least 1 per part of a counter; 1 read per counter of a group. */
async function countDocuments(session: Session, selection: Selection): Promise<number> {
  let documents = 0;
  let counters = 0;
  for await (const id of idsOf(session, selection)) {
    documents += (await extentOf(session.ref(id))).documents;
    counters++;
    if (counters % 100 === 0) tell(paint("dim", `counting: ${rounded(documents)} documents so far`, process.stderr));
  }
  return documents;
}
