/**
 * A large number that counts up to its new value, in a size at which the longer of what is shown and the new value fits. Screen
 * readers get the new value at once.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { allowsMotion } from "../page/browserState.ts";
import { formatTotal } from "../page/format.ts";

const DURATION_MS = 900;

export function Ticker({ value, id }: { value: number | undefined; id?: string }) {
  const digits = useRef<HTMLSpanElement>(null);
  const shown = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const element = digits.current;
    if (!element) return;
    const length = textOf(value).length;
    const show = (number: number | undefined) => {
      shown.current = number;
      const text = textOf(number);
      element.textContent = text;
      element.style.setProperty("--characters", `${Math.max(text.length, length, 4)}`);
    };
    const from = shown.current;
    if (value === undefined || from === undefined || Math.abs(value - from) < 2 || !allowsMotion()) {
      show(value);
      return;
    }
    const start = performance.now();
    let frame = requestAnimationFrame(function run(now) {
      const passed = Math.min(Math.max(now - start, 0) / DURATION_MS, 1);
      const eased = 1 - (1 - passed) ** 3;
      show(passed < 1 ? Math.round(from + (value - from) * eased) : value);
      if (passed < 1) frame = requestAnimationFrame(run);
    });
    return () => cancelAnimationFrame(frame);
  }, [value]);
  return (
    <span class="ticker" id={id} data-total={value}>
      <span class="digits" aria-hidden="true" ref={digits} />
      <span class="unseen">{value === undefined ? "unknown" : textOf(value)}</span>
    </span>
  );
}

function textOf(value: number | undefined): string {
  return value === undefined ? "–" : formatTotal(value);
}
