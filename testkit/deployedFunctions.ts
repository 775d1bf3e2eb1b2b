/** The functions of the running emulators, as a test sees them: their log, their invocations and their schedule. */
import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/** The prefix of the functions' names, which depends on how they are loaded. */
const prefix =
  { plain: "tally-", hosted: "tally-", extension: "ext-tally-", kit: "kit-main-", "extension+kit": "kit-main-" }[
    process.env.TALLY_PACKAGING ?? "plain"
  ] ?? "";

/** What the emulators have printed so far. */
export function emulatorsLog(): string {
  return readFileSync(process.env.TALLY_LOG as string, "utf8");
}

/** Where the emulator serves an HTTP function. */
export function functionUrl(name: "ingest"): string {
  const { TALLY_FUNCTIONS_HOST, GCLOUD_PROJECT } = process.env;
  return `http://${TALLY_FUNCTIONS_HOST}/${GCLOUD_PROJECT}/us-central1/${prefix}${name}`;
}

/** How often functions were invoked since the emulators started: all together, and those that run tasks. */
export function countInvocations(): { all: number; aggregate: number } {
  const count = (name: string) =>
    emulatorsLog().match(new RegExp(`Beginning execution of "us-central1-${name}"`, "g"))?.length ?? 0;
  return { all: count('[^"]*'), aggregate: count('[^"]*aggregate') };
}

/** Stops the processes of the functions, with `--as hosted`: they answer nothing until they go on. @returns lets them go on */
export function freezeFunctions(): () => void {
  const signal = (name: NodeJS.Signals) => {
    for (const pid of (process.env.TALLY_FUNCTIONS_PIDS as string).split(",")) process.kill(Number(pid), name);
  };
  signal("SIGSTOP");
  return () => signal("SIGCONT");
}

/** Log lines of the functions with a message, as structured data. */
export function logged(message: string): Record<string, unknown>[] {
  return emulatorsLog()
    .split("\n")
    .filter((line) => line.includes(`"message":"${message}`))
    .map((line) => JSON.parse(line.slice(line.indexOf("{"))));
}

/**
 * Runs the sweep now, as its schedule would. The emulator keeps a 1st generation schedule as a Pub/Sub topic, and a 2nd
 * generation one as a function to be called.
 */
export async function triggerSweep(): Promise<void> {
  const { GCLOUD_PROJECT: project, PUBSUB_EMULATOR_HOST: pubsub, TALLY_FUNCTIONS_HOST: functions } = process.env;
  const url =
    process.env.TALLY_PACKAGING === "extension"
      ? `http://${pubsub}/v1/projects/${project}/topics/firebase-schedule-${prefix}sweep:publish`
      : `http://${functions}/functions/projects/${project}/triggers/us-central1-${prefix}sweep-0`;
  const before = finishedSweeps();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ data: btoa("sweep") }] }),
  });
  if (!response.ok) throw new Error(`could not trigger the sweep: ${await response.text()}`);
  await until(() => finishedSweeps() > before, "the sweep to finish");
}

function finishedSweeps(): number {
  return emulatorsLog().split(`Finished "us-central1-${prefix}sweep"`).length - 1;
}
