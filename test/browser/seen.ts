/** What can be seen of a page: contrast as WCAG computes it, from styles or from a screenshot. */
import type { Locator } from "playwright-core";

export interface Contrasts {
  readonly text: number;
  /** `undefined` without a border, and of an inactive control, for which WCAG demands none. */
  readonly border: number | undefined;
}

/** The contrast of a control's text and border with what is behind them, as they are styled now. */
export function contrastsOf(control: Locator): Promise<Contrasts> {
  return control.evaluate((element) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    if (!canvas) throw new Error("no canvas");
    /** The luminance of colours that are painted over each other. */
    const luminance = (colours: readonly string[]) => {
      for (const colour of colours) {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
      }
      const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      }) as [number, number, number];
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (behind: readonly string[], colour: string) => {
      const [dark, light] = [luminance(behind), luminance([...behind, colour])].sort((a, b) => a - b) as [
        number,
        number,
      ];
      return (light + 0.05) / (dark + 0.05);
    };
    const text = element.querySelector("span") ?? element;
    const behind: string[] = [];
    for (let one: Element | null = text; one; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.opacity !== "1" || style.filter !== "none") throw new Error(`opacity or filter of ${one.outerHTML}`);
      behind.unshift(style.backgroundColor);
    }
    const { color, borderTopWidth, borderTopColor } = getComputedStyle(text);
    const hasBorder = borderTopWidth !== "0px" && !element.matches(":disabled, [aria-disabled=true]");
    return {
      text: contrast(behind, color),
      border: hasBorder ? contrast(behind.slice(0, -1), borderTopColor) : undefined,
    };
  });
}

/**
 * The largest contrast with the page's background of what is drawn in an element.
 *
 * @param place  where: 0 at its left edge, 1 at its right edge
 */
export async function drawnAt(element: Locator, place: number): Promise<number> {
  const picture = (await element.screenshot({ animations: "disabled" })).toString("base64");
  const background = await element.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  // The page's policy allows no pictures of a test.
  const blank = await element.page().context().newPage();
  try {
    return await blank.evaluate(
      async ({ picture, background, place }) => {
        const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
        if (!canvas) throw new Error("no canvas");
        const luminances = (x: number, width: number) => {
          const { data } = canvas.getImageData(x, 0, width, bitmap.height);
          return Array.from({ length: data.length / 4 }, (_, pixel) => {
            const [red, green, blue] = [0, 1, 2].map((channel) => {
              const part = (data[4 * pixel + channel] as number) / 255;
              return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
            }) as [number, number, number];
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          });
        };
        canvas.fillStyle = background;
        canvas.fillRect(0, 0, 1, 1);
        const [behind] = luminances(0, 1) as [number];
        canvas.drawImage(bitmap, 0, 0);
        const width = 8;
        const drawn = luminances(Math.round(place * (bitmap.width - width)), width);
        const contrast = (one: number) => (Math.max(one, behind) + 0.05) / (Math.min(one, behind) + 0.05);
        return Math.max(...drawn.map(contrast));
      },
      { picture, background, place },
    );
  } finally {
    await blank.close();
  }
}
