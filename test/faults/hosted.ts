/**
 * Functions that take a load and are killed: in one process that runs many requests at a time (testkit/emulators/hostedFunctions.ts),
 * behind a proxy that delivers each event until it is handled, and each task when it is due.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startEmulators } from "../../testkit/emulators/emulators.ts";
import { createProject } from "../../testkit/emulators/project.ts";
import { deliverEvents, deliverTasks } from "./delivery.ts";

export interface HostedFaults {
  /** Events and tasks that were handled so far. */
  handled(): number;
  /** Kills the functions every few seconds, and starts them again at once. */
  killAgainAndAgain(): { end(): Promise<number> };
  stop(): Promise<void>;
}

/** As fast as a quarter of the time that `delivery.ts` gives the Functions emulator, and four times the messages at once. */
const SLOWNESS = 0.25;

const LONGEST_LIFE_MS = 6_000;

/**
 * Starts everything, and writes the addresses into `process.env`, where the modules of `testkit` read them when they load.
 *
 * @param params  parameters of the functions that differ from their defaults, by name
 */
export async function startHostedFaults(params: Record<string, string>): Promise<HostedFaults> {
  const project = await createProject("hosted", params);
  const functions = project.addresses.functions as string;
  const events = await deliverEvents(functions, SLOWNESS);
  const tasks = await deliverTasks(project.addresses.tasks as string, functions, SLOWNESS);
  const addresses = { eventsTo: events.address, tasksTo: tasks.address };
  const emulators = await startEmulators({ packaging: "hosted", params, project, ...addresses });
  Object.assign(process.env, emulators.env);
  return {
    handled: () => events.handled() + tasks.handled(),
    killAgainAndAgain() {
      let isOver = false;
      const run = async () => {
        let kills = 0;
        for (; !isOver; kills++) {
          await sleep(LONGEST_LIFE_MS * Math.random());
          await emulators.restartFunctions?.();
        }
        return kills;
      };
      const running = run();
      return {
        end: () => {
          isOver = true;
          return running;
        },
      };
    },
    async stop() {
      await Promise.all([events.stop(), tasks.stop()]);
      await emulators.stop();
    },
  };
}
