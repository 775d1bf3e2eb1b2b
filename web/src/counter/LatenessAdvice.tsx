/** How late a total is, and to an operator the commands that tell why. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";
import { CommandToRun } from "../page/CommandToRun.tsx";
import { describeLateness, type Lateness } from "./health.ts";

interface LatenessAdviceProps {
  readonly setup: FirebaseSetup;
  readonly id: string;
  readonly lateness: Lateness;
  readonly isOperator: boolean;
}

export function LatenessAdvice({ setup, id, lateness, isOperator }: LatenessAdviceProps) {
  return (
    <>
      {describeLateness(lateness)}.
      {isOperator && (
        <>
          {" "}
          Run <CommandToRun setup={setup} command="inspect" id={id} />, then{" "}
          <CommandToRun setup={setup} command="doctor" />.
        </>
      )}
    </>
  );
}
