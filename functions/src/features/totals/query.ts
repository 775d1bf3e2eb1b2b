/**
 * The query of a request for totals: `ids=a,b`, each id percent-encoded. Encoded commas separate ids, too, since most programs encode a
 * whole value. So an id with a comma cannot be asked for.
 *
 * A cache keeps an answer for each URL, so what does not belong there is refused: `&x=1` would make every request miss the cache.
 * The order and the encoding of ids stay free. Of 50 counters there are more selections than anyone can ask for, and programs
 * encode `:` in two ways. Another form of the same request costs a call of the function, but no read of Firestore.
 */
import { isDocumentId } from "../../../../core/src/index.ts";
import { type CounterList, isListed } from "../../shared/counterList.ts";
import { Refusal } from "../../shared/refusal.ts";

/** The most counters of one request. */
const MAX_IDS = 100;

/** For how long a cache may repeat an answer that only a deployment changes, so that a page with a mistake costs little. */
const UNTIL_DEPLOYED = { "cache-control": "public, max-age=10, s-maxage=10" };

/**
 * @param url  of the request, as it was sent. Its path does not matter
 * @returns    the ids in the order asked for, each once
 * @throws Refusal 400, or 403 for a counter that is not listed
 */
export function parseQuery(url: string, counters: CounterList): string[] {
  const [, query = ""] = /\?(.*)/s.exec(url) ?? [];
  const [, list] = /^ids=([^&=]*)$/.exec(query) ?? [];
  if (list === undefined) throw invalid("the query is not ids=… alone; ask with ?ids=a,b and no other parameter");
  const items = list.split(/,|%2C/i, MAX_IDS + 1);
  if (items.length > MAX_IDS) throw invalid(`there are more than ${MAX_IDS} ids; ask for fewer at a time`);
  const ids = items.map(decodeId);
  if (new Set(ids).size < ids.length) throw invalid("an id is there twice; ask for each counter once");
  const hidden = ids.find((id) => !isListed(counters, id));
  if (hidden === undefined) return ids;
  throw new Refusal(403, `the counter ${quoted(hidden)} is not among TOTALS_COUNTERS`, UNTIL_DEPLOYED);
}

/** The refusal of a function without counters. */
export function totalsAreOff(): Refusal {
  return new Refusal(404, "totals is off; set TOTALS_COUNTERS to the counters that it may show", UNTIL_DEPLOYED);
}

/** A form would send a space as `+`, and others mean a plus. */
function decodeId(item: string): string {
  try {
    const id = decodeURIComponent(item);
    if (isDocumentId(id) && !item.includes("+")) return id;
  } catch {
    // Not UTF-8, or a sign of percent without two digits.
  }
  throw invalid(`${quoted(item)} is no id of a counter; encode each with encodeURIComponent, with commas between them`);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function invalid(message: string): Refusal {
  return new Refusal(400, message);
}
