/** The most frequent items of a counter, if its events have items. */
import { doc, onSnapshot, type Timestamp } from "firebase/firestore";
import type { TopItems as Items } from "firestore-tally";
import { useEffect, useState } from "preact/hooks";
import { type TopItemsDocument, topItemsPath, toTopItems } from "../../../core/src/index.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatTotal } from "../page/format.ts";

const SHOWN = 20;

/** Cost: 1 read, and 1 for each merge of new items, at most every 10 seconds. */
export function TopItems({ connection, id, visible }: { connection: Connection; id: string; visible: boolean }) {
  const [{ items, total, error }, setTopItems] = useState<Items<Timestamp>>(toTopItems(undefined, SHOWN));
  useEffect(() => {
    if (!visible) return;
    const document = doc(connection.db, topItemsPath(`counters/${id}`));
    // If the rules deny it, they deny the total, too, and the page says so.
    return onSnapshot(
      document,
      (snapshot) => setTopItems(toTopItems(snapshot.data() as TopItemsDocument<Timestamp> | undefined, SHOWN)),
      () => {},
    );
  }, [connection, id, visible]);
  if (items.length === 0) return null;

  return (
    <section aria-labelledby="items-title" id="items">
      <div class="caption">
        <h2 id="items-title">Top items</h2>
        <p>
          The {items.length === SHOWN ? `${SHOWN} ` : ""}most frequent items of events, of {formatTotal(total)} counted.{" "}
          {error === 0
            ? "All counts are exact."
            : `A count with a + may be too low, by ${formatTotal(error)} at most; the others are exact.`}{" "}
          1 read for each change, at most every 10 seconds.
        </p>
      </div>
      <table>
        <caption class="unseen">Top items, the most frequent first</caption>
        <thead>
          <tr>
            <th scope="col">Item</th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ item, count, error }) => (
            <tr key={item}>
              <th scope="row">
                <bdi title={item}>{item}</bdi>
              </th>
              <td class="number" data-label="count">
                {`${formatTotal(count)}${error > 0 ? "+" : ""}`}
              </td>
              <td class="number" data-label="of all">
                {formatShare(count / total)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function formatShare(share: number): string {
  return share.toLocaleString("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
