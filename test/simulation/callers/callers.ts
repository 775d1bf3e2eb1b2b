/** Web clients, servers and operators. They run the packages' real code; old apps and apps without the package write as their SDKs do. */

import type { Network } from "../model/network.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Action } from "../scenario/scenario.ts";
import { documents } from "./documents.ts";
import { googleExtension } from "./googleExtension.ts";
import { handMade } from "./handMade.ts";
import { increments } from "./increments.ts";
import { operators } from "./operators.ts";
import { type Handlers, Processes } from "./processes.ts";
import { stock } from "./stock.ts";
import { topItems } from "./topItems.ts";
import { visitors } from "./visitors.ts";

/** What callers do. The others happen to the functions. */
export type CallerAction = Exclude<Action, { does: "sweep" | "kill" | "freeze" }>;

export interface Callers {
  act(action: CallerAction): void;
  /** Every call of a live operator has returned. */
  atEnd(): void;
}

export function createCallers(network: Network, oracle: Oracle, seed: number): Callers {
  const processes = new Processes(network, oracle, seed);
  const handlers: Handlers<CallerAction["does"]> = {
    ...increments(processes),
    ...visitors(processes),
    ...topItems(processes),
    ...stock(processes),
    ...documents(processes),
    ...operators(processes),
    ...googleExtension(processes),
    ...handMade(processes),
    closeClient: ({ client }) => processes.kill("client", client),
    killServer({ server }) {
      oracle.stock.serverDied();
      processes.kill("server", server);
    },
  };
  return {
    act: (action) => handlers[action.does](action as never),
    atEnd: () => processes.atEnd(),
  };
}
