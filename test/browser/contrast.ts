/** Contrast, as WCAG computes it, of what can be seen of a page: from its styles, or from a screenshot. */
import type { Locator } from "playwright-core";

export interface Contrasts {
  readonly text: number;
  /** `undefined` without a border, and of an inactive control, for which WCAG demands none. */
  readonly border: number | undefined;
}

type Pixel = readonly number[];

/** The contrast of two opaque colours, of which the first three numbers are red, green and blue up to 255. */
function contrast(one: Pixel, other: Pixel): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(pixel: Pixel): number {
  const [red, green, blue] = pixel.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of a control's text and border with what is behind them, as they are styled now. */
export async function styledContrasts(control: Locator): Promise<Contrasts> {
  const { text, border } = await control.evaluate((element) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    if (!canvas) throw new Error("no canvas");
    /** What is seen of colours that are painted over each other. */
    const painted = (colours: readonly string[]) => {
      for (const colour of colours) {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
      }
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const pair = (behind: readonly string[], colour: string) =>
      [painted(behind), painted([...behind, colour])] as const;
    const text = element.querySelector("span") ?? element;
    const behind: string[] = [];
    for (let one: Element | null = text; one; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.opacity !== "1" || style.filter !== "none") throw new Error(`opacity or filter of ${one.outerHTML}`);
      behind.unshift(style.backgroundColor);
    }
    const { color, borderTopWidth, borderTopColor } = getComputedStyle(text);
    const hasBorder = borderTopWidth !== "0px" && !element.matches(":disabled, [aria-disabled=true]");
    return { text: pair(behind, color), border: hasBorder ? pair(behind.slice(0, -1), borderTopColor) : undefined };
  });
  return { text: contrast(...text), border: border && contrast(...border) };
}

/**
 * The largest contrast with the page's background of what is drawn in an element.
 *
 * @param place  where: 0 at its left edge, 1 at its right edge
 */
export async function drawnContrast(element: Locator, place: number): Promise<number> {
  const picture = (await element.screenshot({ animations: "disabled" })).toString("base64");
  const background = await element.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  // The page's policy allows no pictures of a test.
  const blank = await element.page().context().newPage();
  try {
    const { behind, drawn } = await blank.evaluate(
      async ({ picture, background, place }) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        if (!canvas) throw new Error("no canvas");
        /** Each colour once. */
        const colours = (x: number, width: number) => {
          const { data } = canvas.getImageData(x, 0, width, bitmap.height);
          const all = Array.from({ length: data.length / 4 }, (_, n) => [...data.subarray(4 * n, 4 * n + 3)]);
          return [...new Map(all.map((colour) => [colour.join(), colour])).values()];
        };
        canvas.fillStyle = background;
        canvas.fillRect(0, 0, bitmap.width, bitmap.height);
        const [behind] = colours(0, 1) as [number[]];
        canvas.drawImage(bitmap, 0, 0);
        const width = 8;
        return { behind, drawn: colours(Math.round(place * (bitmap.width - width)), width) };
      },
      { picture, background, place },
    );
    return Math.max(...drawn.map((colour) => contrast(colour, behind)));
  } finally {
    await blank.close();
  }
}
