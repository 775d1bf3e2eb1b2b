/**
 * Starts and stops the traffic of this browser, and requests a rate. What arrives may be less, so the text tells the delivered
 * rate, and what the counter has counted from everyone.
 */
import { useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { formatRate, formatWhole, pluralize } from "../page/format.ts";
import { RATES } from "../traffic/rates.ts";
import { MAX_DURATION_MS, sendTraffic, stopTraffic, type Traffic } from "../traffic/traffic.ts";

export interface TrafficControlProps {
  readonly connection: Connection;
  readonly traffic: Traffic;
  readonly ready: boolean;
  /** Per second, of every client together; `undefined` while the total is late. */
  readonly counted: number | undefined;
}

export function TrafficControl({ connection, traffic, ready, counted }: TrafficControlProps) {
  const running = traffic.perSecond > 0;
  const [step, setStep] = useState(RATES.indexOf(running ? traffic.perSecond : 100));
  const perSecond = RATES[step] ?? 0;
  return (
    <div class="traffic">
      <button
        type="button"
        id="traffic"
        class={running ? "on" : ""}
        disabled={!ready}
        onClick={() => (running ? stopTraffic() : sendTraffic(connection, perSecond))}
      >
        {running ? "Stop" : "Send traffic"}
      </button>
      <label>
        <span class="unseen">Increments per second</span>
        <input
          type="range"
          id="per-second"
          min={0}
          max={RATES.length - 1}
          value={step}
          style={{ "--filled": `${(100 * step) / (RATES.length - 1)}%` }}
          aria-valuetext={`${formatWhole(perSecond)} per second`}
          onInput={({ currentTarget }) => {
            const next = Number(currentTarget.value);
            setStep(next);
            if (running) sendTraffic(connection, RATES[next] ?? 0);
          }}
        />
        <span class="requested">
          <b>{formatWhole(perSecond)}</b> a second requested
        </span>
      </label>
      <p class="fine" id="achieved">
        {describeTraffic(traffic, counted, !!connection.setup.firestore)}
      </p>
    </div>
  );
}

/** @param hasHelper  whether `npm start` can be asked for the rest: with the emulator */
function describeTraffic(traffic: Traffic, counted: number | undefined, hasHelper: boolean): string {
  const { perSecond, achieved, inFlight, failed, helpRequested, endReason } = traffic;
  if (perSecond === 0) {
    const limit = `Stops after ${MAX_DURATION_MS / 60_000} minutes.`;
    if (inFlight > 0) return `Stopped; ${formatWhole(inFlight)} increments are not acknowledged yet.`;
    return endReason ?? `One browser has one connection: a few hundred a second at best. ${limit}`;
  }
  const rejected = failed > 0 ? ` ${pluralize(failed, "increment")} rejected.` : "";
  const sent = `This browser sends ${formatRate(achieved)} of the requested ${formatWhole(perSecond)} a second`;
  const help = hasHelper && helpRequested > 0 ? `, and npm start was asked for ${formatRate(helpRequested)}` : "";
  const arrived = counted === undefined ? "" : ` The counter counts ${formatRate(counted)} a second in all.`;
  return `${sent}${help}.${arrived}${rejected}`;
}
