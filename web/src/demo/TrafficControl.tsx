/** How many increments a second this browser sends. The slider is logarithmic, since what changes are its magnitudes. */
import { useState } from "preact/hooks";
import { formatRate, formatWhole } from "../page/format.ts";
import { LONGEST_MS, type Traffic } from "../traffic/useTraffic.ts";

const MOST_PER_SECOND = 500;
const STEPS = 100;

/** Rounded to what people say: 1, 2, 5, 40, 150. */
export function perSecondAt(step: number): number {
  const exact = MOST_PER_SECOND ** (step / STEPS);
  const unit = exact < 10 ? 1 : exact < 100 ? 5 : 10;
  return Math.round(exact / unit) * unit;
}

export function TrafficControl({ traffic, ready }: { traffic: Traffic; ready: boolean }) {
  const [step, setStep] = useState(74);
  const perSecond = perSecondAt(step);
  const { running, achieved, underWay, failed, asked, failure } = traffic;
  return (
    <div class="traffic">
      <button
        type="button"
        id="traffic"
        class={running ? "on" : ""}
        disabled={!ready}
        onClick={() => (running ? traffic.stop() : traffic.start(perSecond))}
      >
        {running ? "Stop" : "Send traffic"}
      </button>
      <label>
        <span class="unseen">Increments per second</span>
        <input
          type="range"
          id="per-second"
          min={0}
          max={STEPS}
          value={step}
          style={{ "--filled": `${step}%` }}
          aria-valuetext={`${formatWhole(perSecond)} per second`}
          onInput={({ currentTarget }) => {
            const next = Number(currentTarget.value);
            setStep(next);
            if (running) traffic.start(perSecondAt(next));
          }}
        />
        <span class="asked">
          <b>{formatWhole(perSecond)}</b> a second
        </span>
      </label>
      <p class="fine" id="achieved">
        {failure ??
          (running || underWay > 0
            ? `This browser manages ${formatRate(achieved)} a second; ${formatWhole(underWay)} on their way` +
              (failed > 0 ? `; ${formatWhole(failed)} refused` : "") +
              (asked > 0 ? `; ${formatWhole(asked)} asked of npm start.` : ".")
            : `One browser, one connection: a few hundred a second at best. Stops by itself after ${LONGEST_MS / 60_000} minutes.`)}
      </p>
    </div>
  );
}
