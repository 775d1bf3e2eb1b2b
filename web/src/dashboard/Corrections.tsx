/** The corrections that reconciles have made to a counter. For operators. */
import { collection, getDocsFromServer, limit, orderBy, query, type Timestamp } from "firebase/firestore";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { useVisitor } from "../firebase/visitor.ts";
import { formatTotal } from "../page/format.ts";
import { ReadError } from "./ReadError.tsx";

const MAX_CORRECTIONS = 20;

interface Correction {
  readonly id: string;
  readonly at: Timestamp;
  readonly expected: number;
  readonly found: number;
  readonly by: number;
}

export function Corrections({ connection, id }: { connection: Connection; id: string }) {
  const [corrections, setCorrections] = useState<readonly Correction[]>();
  const [error, setError] = useState<Error>();
  const read = useCallback(() => {
    const latest = query(
      collection(connection.db, "counters", id, "tallyCorrections"),
      orderBy("at", "desc"),
      limit(MAX_CORRECTIONS),
    );
    setError(undefined);
    getDocsFromServer(latest).then(
      ({ docs }) => setCorrections(docs.map((one) => ({ id: one.id, ...(one.data() as Omit<Correction, "id">) }))),
      setError,
    );
  }, [connection, id]);
  useEffect(read, [read]);
  const email = useVisitor(connection)?.email;
  const lastEmail = useRef(email);
  useEffect(() => {
    // What an operator has read does not stay on the page after signing out.
    if (lastEmail.current && !email) {
      setCorrections(undefined);
      read();
    }
    lastEmail.current = email;
  }, [email, read]);

  return (
    <section aria-labelledby="corrections-title" id="corrections">
      <div class="caption">
        <h2 id="corrections-title">Corrections</h2>
        <p>
          Differences from the counter's source that a reconcile has corrected. The latest {MAX_CORRECTIONS}, 1 read
          each.
        </p>
      </div>
      {error ? (
        <ReadError connection={connection} title="For operators only" error={error} retry={read} />
      ) : corrections === undefined ? (
        <p class="fine">Reading…</p>
      ) : corrections.length === 0 ? (
        <p class="fine">None: the counter never differed from its source, or has no source.</p>
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
