/** Compares the totals that pages showed with the increments that were made. */
import { expect } from "vitest";
import type { Tab } from "./chromium.ts";
import type { Event } from "./pages/story.ts";

export function readStory({ page }: Tab): Promise<Event[]> {
  return page.evaluate(() => window.story);
}

/**
 * Without refusals and undos, no shown total is lower than an earlier one, higher than the increments of all pages so far, or
 * lower than the increments of its own page.
 */
export async function expectTruth(...tabs: Tab[]): Promise<void> {
  const stories = await Promise.all(tabs.map(readStory));
  for (const story of stories) {
    const others = stories.filter((other) => other !== story).flat();
    let own = 0;
    let last = 0;
    for (const event of story) {
      if ("added" in event) own += event.added;
      else {
        const elsewhere = others.filter(({ at }) => at <= event.at);
        const added = elsewhere.reduce((sum, other) => sum + ("added" in other ? other.added : 0), own);
        expect(event.shown, "a total dips").toBeGreaterThanOrEqual(last);
        expect(event.shown, "a total lacks an increment of its own page").toBeGreaterThanOrEqual(own);
        expect(event.shown, "a total exceeds the truth").toBeLessThanOrEqual(added);
        last = event.shown;
      }
    }
  }
}
