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
        `no Emulator Suite hub lists the Firestore emulator at ${target.emulator} (asked: ${listed(found.asked)}), so no functions publish totals`,
        `start the suite: ${start}. If it runs already, set FIREBASE_EMULATOR_HUB to its hub's host:port`,
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
            `pass --project ${found.project}, or start the suite for your project: ${start}`,
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
