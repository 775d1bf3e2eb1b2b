/** Whether the Emulator Suite of a Firestore emulator runs functions, and for this project. */
import { type ProjectFacts, seen } from "./facts.ts";
import { errorFinding, type Finding, listed } from "./finding.ts";

export function checkSuite({ suite, target }: ProjectFacts): Finding[] {
  const found = seen(suite);
  if (!found) return [];
  const start = `\`firebase emulators:start --project ${target.project} --only auth,firestore,functions,tasks\``;
  if (found.hub === null) {
    return [
      errorFinding(
        "suite-missing",
        `no hub of an Emulator Suite knows the Firestore emulator at ${target.emulator} (asked: ${listed(found.asked)}), and without the suite no functions publish totals`,
        `start it, ${start}; or, if it runs, set FIREBASE_EMULATOR_HUB to the address of its hub`,
      ),
    ];
  }
  const isOther = found.project !== null && found.project !== target.project;
  return [
    ...(isOther
      ? [
          errorFinding(
            "suite-project",
            `the Emulator Suite at ${found.hub} runs the project "${found.project}", so no functions count in "${target.project}"`,
            `name its project: --project ${found.project}; or start it with yours: ${start}`,
          ),
        ]
      : []),
    ...(found.functions === null
      ? [
          errorFinding(
            "suite-functions",
            `the Emulator Suite at ${found.hub} runs without functions, so no total is published`,
            `start it with them: ${start}`,
          ),
        ]
      : []),
  ];
}
