/** Records the increments that a page makes and the totals that it shows, in order, for a test to read. */

export type Event = { readonly at: number; readonly added: number } | { readonly at: number; readonly shown: number };

declare global {
  interface Window {
    story: Event[];
  }
}

window.story = [];

export function tellAdded(added: number): void {
  window.story.push({ at: Date.now(), added });
}

export function tellShown(shown: number): void {
  window.story.push({ at: Date.now(), shown });
}
