/** Page views of a site without Firebase: counted by `ingest`, shown by `totals`. */
import { beacon, onTotal } from "firestore-tally/beacon";

/** The addresses of the functions, as the Firebase CLI prints them. */
const { INGEST_URL = "", TOTALS_URL = "" } = process.env;

const site = beacon(INGEST_URL);

/** Counts a view of a page, and shows all of them. Returns a function that stops. */
export function countView(page: string, show: (views: number) => void) {
  const id = `views:${page}`;
  site.count(id);
  const next = ({ total }: { total: number }) => show(total);
  return onTotal(TOTALS_URL, id, next, { beacon: site });
}
