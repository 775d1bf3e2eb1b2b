/** Records the totals that a page shows, in order, for a test to read. */

declare global {
  interface Window {
    story: number[];
  }
}

window.story = [];

export function tellShown(shown: number): void {
  window.story.push(shown);
}
