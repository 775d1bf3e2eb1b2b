/** `reset`: sets a counter's total. Cost: 2 reads per shard, 1 write; 1 read per shard more to show what it became. */
import { resetCounter } from "../../admin/src/maintain.ts";
import { getExactCounter } from "../../admin/src/read.ts";
import { consent } from "./consent.ts";
import { Left, patiently } from "./patience.ts";
import { resumption } from "./round.ts";
import { paint, print, printJson, shown } from "./screen.ts";
import type { Session } from "./session.ts";
import { Stop } from "./stop.ts";
import { inWords } from "./words.ts";

export async function reset(session: Session, _: unknown, id: string, total: number): Promise<void> {
  const ref = session.ref(id);
  const before = await getExactCounter(ref);
  await consent(session, { what: `Reset ${id} from ${inWords(before)} to ${inWords(total)}` });
  await patiently(() => resetCounter(ref, total)).catch((error) => {
    if (!(error instanceof Left)) throw error;
    const again = resumption(process.argv.slice(2), undefined);
    throw new Stop(
      error.exitCode,
      `${error.message}; ${shown(id)} may be reset or not. See with inspect, or do it again with:\n  ${again}`,
      error,
    );
  });
  const after = await getExactCounter(ref);
  if (session.json) return printJson({ ...session.target, id, before, after });
  print(`${shown(id)}  ${paint("dim", inWords(before))} → ${paint("bold", inWords(after))}`);
  if (after !== total) print(paint("dim", "What was incremented meanwhile counts in full."));
}
