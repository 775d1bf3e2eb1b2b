/** What reconciles have changed: by how much the counter had drifted from what it should have been. For operators. */
import { collection, getDocsFromServer, limit, orderBy, query, type Timestamp } from "firebase/firestore";
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Backend } from "../firebase/backend.ts";
import { formatTotal } from "../page/format.ts";
import { SignIn } from "./SignIn.tsx";

const MOST = 20;

interface Correction {
  readonly id: string;
  readonly at: Timestamp;
  readonly expected: number;
  readonly found: number;
  readonly by: number;
}

export function Corrections({ backend, id }: { backend: Backend; id: string }) {
  const [corrections, setCorrections] = useState<readonly Correction[]>();
  const [error, setError] = useState<Error>();
  const read = useCallback(() => {
    const latest = query(collection(backend.db, "counters", id, "corrections"), orderBy("at", "desc"), limit(MOST));
    setError(undefined);
    getDocsFromServer(latest).then(
      ({ docs }) => setCorrections(docs.map((one) => ({ id: one.id, ...(one.data() as Omit<Correction, "id">) }))),
      setError,
    );
  }, [backend, id]);
  useEffect(read, [read]);

  return (
    <section aria-labelledby="corrections-title" id="corrections">
      <div class="caption">
        <h2 id="corrections-title">Corrections</h2>
        <p>What a reconcile found to differ from the counter's source, and added. The latest {MOST}, 1 read each.</p>
      </div>
      {error ? (
        <SignIn backend={backend} why="For operators" error={error} folded again={read} />
      ) : corrections === undefined ? (
        <p class="fine">Reading…</p>
      ) : corrections.length === 0 ? (
        <p class="fine">None. The counter has never been found to differ from its source, or has none.</p>
      ) : (
        <table>
          <caption class="unseen">Corrections, the latest first</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col" class="number">
                Expected
              </th>
              <th scope="col" class="number">
                Found
              </th>
              <th scope="col" class="number">
                Added
              </th>
            </tr>
          </thead>
          <tbody>
            {corrections.map((one) => (
              <tr key={one.id}>
                <th scope="row">{one.at.toDate().toLocaleString()}</th>
                <td class="number" data-label="expected">
                  {formatTotal(one.expected)}
                </td>
                <td class="number" data-label="found">
                  {formatTotal(one.found)}
                </td>
                <td class="number" data-label="added">
                  {`${one.by > 0 ? "+" : ""}${formatTotal(one.by)}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
