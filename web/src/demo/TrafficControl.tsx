/** How many increments a second this browser sends. */
import { useState } from "preact/hooks";
import type { Backend } from "../firebase/backend.ts";
import { formatRate, formatWhole } from "../page/format.ts";
import { RATES } from "../traffic/rates.ts";
import { LONGEST_MS, sendTraffic, stopTraffic, type Traffic } from "../traffic/traffic.ts";

export interface TrafficControlProps {
  readonly backend: Backend;
  readonly traffic: Traffic;
  readonly ready: boolean;
}

export function TrafficControl({ backend, traffic, ready }: TrafficControlProps) {
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
        onClick={() => (running ? stopTraffic() : sendTraffic(backend, perSecond))}
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
            if (running) sendTraffic(backend, RATES[next] ?? 0);
          }}
        />
        <span class="asked">
          <b>{formatWhole(perSecond)}</b> a second
        </span>
      </label>
      <p class="fine" id="achieved">
        {saidOf(traffic)}
      </p>
    </div>
  );
}

function saidOf({ perSecond, achieved, underWay, failed, isHelped, ended }: Traffic): string {
  if (perSecond === 0 && underWay === 0) {
    const limit = `Stops by itself after ${LONGEST_MS / 60_000} minutes.`;
    return ended ?? `One browser, one connection: a few hundred a second at best. ${limit}`;
  }
  const refused = failed > 0 ? `; ${formatWhole(failed)} refused` : "";
  const rest = isHelped ? "; npm start is asked for the rest" : "";
  return `This browser manages ${formatRate(achieved)} a second, ${formatWhole(underWay)} on their way${refused}${rest}.`;
}
