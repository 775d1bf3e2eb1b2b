/** How late a total is, and the commands that tell an operator why. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";
import { CommandToRun } from "../page/CommandToRun.tsx";
import { describeLateness, type Lateness } from "./health.ts";

interface LatenessAdviceProps {
  readonly setup: FirebaseSetup;
  readonly id: string;
  readonly lateness: Lateness;
  readonly now: number;
}

export function LatenessAdvice({ setup, id, lateness, now }: LatenessAdviceProps) {
  return (
    <>
      {describeLateness(lateness, now)}. Run <CommandToRun setup={setup} command="inspect" id={id} />, then{" "}
      <CommandToRun setup={setup} command="doctor" />.
    </>
  );
}
