/** The summary for an operator on call. */
import type { ComponentChildren } from "preact";
import { describeLateness } from "../counter/health.ts";
import type { Connection } from "../firebase/connection.ts";
import { CommandToRun } from "../page/CommandToRun.tsx";
import { formatAge, formatTotal, formatWhole, pluralize } from "../page/format.ts";
import { counterAddress } from "../page/route.ts";
import type { OnCallSummary } from "./onCallSummary.ts";
import { MOST } from "./readOnCall.ts";
import type { OnCallState } from "./useOnCall.ts";

interface OnCallProps extends OnCallState, OnCallSummary {
  readonly connection: Connection;
  readonly now: number;
}

export function OnCall({ connection, reading, error, late: lateById, alarms, now }: OnCallProps) {
  const { setup } = connection;
  const late = [...lateById];
  const overdue = late.filter(([, { kind }]) => kind === "overdue");
  return (
    <section aria-labelledby="on-call-title" id="on-call">
      <div class="caption">
        <h2 id="on-call-title">On call</h2>
        <p role="status">
          {error
            ? `It could not be read: ${error.message}`
            : reading
              ? `The counters below, and up to ${MOST} polled, ${MOST} slow and ${MOST} reconciled ones: ${formatWhole(reading.reads)} reads, every 30 s.`
              : "Reading…"}
        </p>
      </div>
      <dl class="figures">
        <Figure id="late" name="Late totals" value={reading && late.length}>
          {late.length === 0 ? "of these counters" : <Ids of={late.map(([id, one]) => [id, describeLateness(one)])} />}
          {late.length > 0 && (
            <span class="named">
              Run <CommandToRun setup={setup} command="doctor" />
            </span>
          )}
        </Figure>
        <Figure id="waiting" name="Waiting tasks" value={reading?.polled} isBad={overdue.length > 0} most={MOST}>
          {overdue.length === 0
            ? "one for each polled counter; none overdue"
            : `${formatWhole(overdue.length)} overdue, the oldest by ${formatAge(Math.max(...overdue.map(([, { since, at }]) => at - since)))}`}
        </Figure>
        <Figure id="drift" name="Drift" value={reading?.drifts.length}>
          {reading && reading.drifts.length > 0 ? (
            <Ids
              of={reading.drifts.map(({ id, by, at }) => [
                id,
                `corrected by ${by > 0 ? "+" : ""}${formatTotal(by)}, ${formatAge(now - at)} ago`,
              ])}
            />
          ) : (
            `corrected in the last day, in ${pluralize(reading?.reconciled ?? 0, "counter")} with a scheduled reconcile`
          )}
        </Figure>
        <Figure id="alarms" name="Alarms" value={reading && alarms.length}>
          {alarms.length > 0 ? (
            <Ids of={alarms.map(({ id, text }) => [id, text])} />
          ) : (
            "malformed shards, slow sums, overdue reconciles. "
          )}
          {!setup.firestore && (
            <a href={`https://console.cloud.google.com/monitoring/alerting?project=${setup.options.projectId}`}>
              Alerts in Cloud Monitoring
            </a>
          )}
        </Figure>
      </dl>
    </section>
  );
}

interface FigureProps {
  readonly id: string;
  readonly name: string;
  readonly value: number | undefined;
  /** Default: whether the value is not 0. */
  readonly isBad?: boolean;
  /** A value that means at least so many. */
  readonly most?: number;
  readonly children: ComponentChildren;
}

function Figure({ id, name, value, isBad = (value ?? 0) > 0, most, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={id} class={isBad ? "bad" : ""}>
        {value === undefined ? "–" : formatWhole(value)}
        {value === most && "+"}
      </dd>
      <dd class="fine">{value !== undefined && children}</dd>
    </div>
  );
}

/** The first counters, each with a text about it. */
function Ids({ of: all }: { of: readonly (readonly [id: string, text: string])[] }) {
  const shown = all.slice(0, 3);
  return (
    <>
      {shown.map(([id, text]) => (
        <span class="named" key={id}>
          <a href={counterAddress(id)} title={id}>
            <bdi>{id}</bdi>
          </a>{" "}
          {text}
        </span>
      ))}
      {all.length > shown.length && <span class="named">and {formatWhole(all.length - shown.length)} more</span>}
    </>
  );
}
