/** The shards of a counter: one cell each, the warmer the more was written to it lately. */
import { useEffect, useRef } from "preact/hooks";
import { onTheme, wantsMotion } from "../page/conditions.ts";
import { formatWhole } from "../page/format.ts";
import { gridOf } from "./grid.ts";
import { colourOf, type Heat, isWarm } from "./heat.ts";

interface Picture {
  /** How many cells share the area: on its way from one number to the next. */
  count: number;
  /** The colour of each cell, from 0 to 1: on its way, too. */
  readonly colours: number[];
}

export function HeatStrip({ heat, shardCount }: { heat: Heat | undefined; shardCount: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture>({ count: 1, colours: [] });
  const goal = useRef({ heat, shardCount });
  const wake = useRef(() => {});

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    let frame = 0;
    const paint = () => {
      frame = 0;
      const isMoving = approach(picture.current, goal.current.heat, goal.current.shardCount);
      draw(element, context, picture.current, goal.current.shardCount);
      if (isMoving) wake.current();
    };
    wake.current = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    const resized = new ResizeObserver(() => wake.current());
    resized.observe(element);
    const endTheme = onTheme(() => wake.current());
    wake.current();
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      endTheme();
    };
  }, []);
  useEffect(() => {
    goal.current = { heat, shardCount };
    wake.current();
  }, [heat, shardCount]);

  const hot = heat?.filter(isWarm).length ?? 0;
  const described = `${formatWhole(shardCount)} ${shardCount === 1 ? "shard" : "shards"}, ${formatWhole(hot)} written to lately`;
  return <canvas class="heat" ref={canvas} role="img" aria-label={described} />;
}

/** One frame nearer to what was seen. @returns whether there is more to go */
function approach(picture: Picture, heat: Heat | undefined, shardCount: number): boolean {
  const step = wantsMotion() ? 0.16 : 1;
  const cells = heat ?? [];
  const count = Math.max(shardCount, (cells.at(-1)?.index ?? 0) + 1);
  picture.count += (count - picture.count) * step;
  if (Math.abs(count - picture.count) < 0.02 * count) picture.count = count;
  const aims = new Array<number>(count).fill(0);
  for (const { index, heat } of cells) aims[index] = colourOf(heat);
  let isMoving = picture.count !== count;
  picture.colours.length = Math.max(count, Math.ceil(picture.count));
  for (let i = 0; i < picture.colours.length; i++) {
    const aim = aims[i] ?? 0;
    const colour = picture.colours[i] ?? 0;
    const next = Math.abs(aim - colour) < 0.004 ? aim : colour + (aim - colour) * step;
    picture.colours[i] = next;
    if (next !== aim) isMoving = true;
  }
  return isMoving;
}

function draw(element: HTMLCanvasElement, context: CanvasRenderingContext2D, picture: Picture, shardCount: number) {
  const { clientWidth: width, clientHeight: height } = element;
  const scale = devicePixelRatio;
  if (element.width !== Math.round(width * scale)) element.width = Math.round(width * scale);
  if (element.height !== Math.round(height * scale)) element.height = Math.round(height * scale);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(element);
  const [cold, hot] = [style.getPropertyValue("--cell"), style.getPropertyValue("--accent")];
  const { rows, columns } = gridOf(picture.count, width, height);
  const cellWidth = width / columns;
  const cellHeight = height / rows;
  const gap = cellWidth > 14 ? 2 : 1;
  const radius = Math.min(3, cellWidth / 4);
  for (let i = 0; i < Math.ceil(picture.count); i++) {
    const row = rows === 1 ? 0 : Math.floor(i / columns);
    const x = (i - row * columns) * cellWidth;
    const y = row * cellHeight;
    const path = new Path2D();
    path.roundRect(x, y, Math.max(Math.min(cellWidth, width - x) - gap, 0.5), cellHeight - gap, radius);
    context.globalAlpha = i < shardCount ? 1 : 0.45;
    context.fillStyle = cold;
    context.fill(path);
    context.globalAlpha = picture.colours[i] ?? 0;
    context.fillStyle = hot;
    context.fill(path);
  }
  context.globalAlpha = 1;
}
