/**
 * Records the page as two short loops, in light and in dark: animated WebP, which browsers and GitHub show. A frame is taken each second
 * and shown for a sixth of one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import sharp from "sharp";

const FRAME_MS = 1_000;
const SPEED = 6;
const LAST_FRAME_MS = 2_500;
const SCHEMES = ["light", "dark"] as const;

export type Recording = Readonly<Record<(typeof SCHEMES)[number], Buffer[]>>;

/** Takes frames for some seconds: the page from the total to the chart. */
export async function record(page: Page, recording: Recording, seconds: number): Promise<void> {
  const clip = await page.evaluate(() => {
    scrollTo(0, 0);
    const [first, , last] = document.querySelectorAll("main > section");
    const top = (first?.getBoundingClientRect().top ?? 0) - 24;
    return {
      x: 0,
      y: top,
      width: innerWidth,
      height: (last?.getBoundingClientRect().bottom ?? innerHeight) + 24 - top,
    };
  });
  for (const end = Date.now() + seconds * 1_000; Date.now() < end; ) {
    const next = sleep(FRAME_MS);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      // The canvases are drawn anew in the other colours.
      await sleep(150);
      recording[colorScheme].push(await page.screenshot({ clip }));
    }
    await next;
  }
}

export async function writeLoop(frames: readonly Buffer[], file: string): Promise<void> {
  const delay = frames.map((_, i) => (i < frames.length - 1 ? Math.round(FRAME_MS / SPEED) : LAST_FRAME_MS));
  await sharp([...frames], { join: { animated: true } })
    .webp({ quality: 60, effort: 4, minSize: true, loop: 0, delay })
    .toFile(file);
}
