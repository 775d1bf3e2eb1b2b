/** Mistakes of a device in what it shows. The pages cannot know better, so the totals that they show are wrong. */
import type { Hooks, Mutation } from "./mutation.ts";

const onDevice = (device: NonNullable<Hooks["device"]>, seed: number): Record<string, Mutation> => ({
  [device]: { device, breaks: ["shown"], world: "users", seed },
});

export const userMutations: Record<string, Mutation> = {
  ...onDevice("it shows what waits in the queue of another user", 53),
  ...onDevice("its cache takes older versions", 152),
  ...onDevice("it does not tell of refused writes", 18),
  ...onDevice("it shows no marks", 3),
  ...onDevice("pages are rendered without their version", 16),
  ...onDevice("its queue is told as sent after a reload", 13),
  ...onDevice("its waits do not tell of another user", 53),
};
