import type { CounterRef } from "../../admin/src/index.ts";
import { counterDoc, extentOf } from "../../admin/src/internal.ts";

/** Whether a counter has a document, or anything below that is deleted with it. Cost: 1 read; 8 more without a document. */
export async function counterExists(ref: CounterRef): Promise<boolean> {
  return (await counterDoc(ref).get()).exists || (await extentOf(ref)).parts.length > 0;
}
