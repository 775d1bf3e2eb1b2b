/** The most frequent keys of a counter, if its events have keys. */
import { doc, onSnapshot, type Timestamp } from "firebase/firestore";
import type { TopKeys as Keys } from "firestore-tally";
import { useEffect, useState } from "preact/hooks";
import { type TopKeysDocument, topKeysPath, toTopKeys } from "../../../core/src/index.ts";
import type { Connection } from "../firebase/connection.ts";
import { formatTotal } from "../page/format.ts";

const SHOWN = 20;

/** Cost: 1 read, and 1 for each merge of new keys, at most every 10 seconds. */
export function TopKeys({ connection, id, visible }: { connection: Connection; id: string; visible: boolean }) {
  const [{ keys, total, error }, setTopKeys] = useState<Keys<Timestamp>>(toTopKeys(undefined, SHOWN));
  useEffect(() => {
    if (!visible) return;
    const document = doc(connection.db, topKeysPath(`counters/${id}`));
    // If the rules deny it, they deny the total, too, and the page says so.
    return onSnapshot(
      document,
      (snapshot) => setTopKeys(toTopKeys(snapshot.data() as TopKeysDocument<Timestamp> | undefined, SHOWN)),
      () => {},
    );
  }, [connection, id, visible]);
  if (keys.length === 0) return null;

  return (
    <section aria-labelledby="keys-title" id="keys">
      <div class="caption">
        <h2 id="keys-title">Top keys</h2>
        <p>
          The {keys.length === SHOWN ? `${SHOWN} ` : ""}most frequent keys of events, of {formatTotal(total)} counted.{" "}
          {error === 0
            ? "All counts are exact."
            : `A count with a + may be too low, by ${formatTotal(error)} at most; the others are exact.`}{" "}
          1 read for each change, at most every 10 seconds.
        </p>
      </div>
      <table>
        <caption class="unseen">Top keys, the most frequent first</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, count, error }) => (
            <tr key={key}>
              <th scope="row">
                <bdi>{key}</bdi>
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
