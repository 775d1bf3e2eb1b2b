/** Starts and stops the traffic of this browser, and sets its rate. */
import { useState } from "preact/hooks";
import type { Connection } from "../firebase/connection.ts";
import { formatRate, formatWhole } from "../page/format.ts";
import { RATES } from "../traffic/rates.ts";
import { MAX_DURATION_MS, sendTraffic, stopTraffic, type Traffic } from "../traffic/traffic.ts";

export interface TrafficControlProps {
  readonly connection: Connection;
  readonly traffic: Traffic;
  readonly ready: boolean;
}

export function TrafficControl({ connection, traffic, ready }: TrafficControlProps) {
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
          <b>{formatWhole(perSecond)}</b> a second
        </span>
      </label>
      <p class="fine" id="achieved">
        {describeTraffic(traffic)}
      </p>
    </div>
  );
}

function describeTraffic({ perSecond, achieved, inFlight, failed, hasHelp, endReason }: Traffic): string {
  if (perSecond === 0 && inFlight === 0) {
    const limit = `Stops after ${MAX_DURATION_MS / 60_000} minutes.`;
    return endReason ?? `One browser has one connection: a few hundred a second at best. ${limit}`;
  }
  const rejected = failed > 0 ? `; ${formatWhole(failed)} rejected` : "";
  const rest = hasHelp ? "; npm start sends the rest" : "";
  return `This browser sends ${formatRate(achieved)} a second, ${formatWhole(inFlight)} pending${rejected}${rest}.`;
}
