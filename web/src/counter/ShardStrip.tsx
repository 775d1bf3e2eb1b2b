/** The shards of a counter: one cell each, coloured by its recent writes per second. */
import { useEffect, useRef } from "preact/hooks";
import { allowsMotion, onColoursChange } from "../page/browserState.ts";
import { formatWhole } from "../page/format.ts";
import { cellGrid } from "./cellGrid.ts";
import { colourStrength, isActive, type ShardActivity } from "./shardActivity.ts";

/** What is drawn: it moves towards the target, frame by frame. */
interface Picture {
  /** The number of cells that share the area; fractional during the animation. */
  count: number;
  /** The colour strength of each cell, 0 to 1. */
  readonly colours: number[];
}

interface Target {
  readonly activity: readonly ShardActivity[] | undefined;
  readonly shardCount: number;
}

export function ShardStrip({ activity, shardCount }: Target) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture>({ count: 1, colours: [] });
  const target = useRef<Target>({ activity, shardCount });
  const redraw = useRef(() => {});

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    let frame = 0;
    const paint = () => {
      frame = 0;
      const isMoving = moveTowards(picture.current, target.current);
      draw(element, context, picture.current, target.current.shardCount);
      if (isMoving) redraw.current();
    };
    redraw.current = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    const resized = new ResizeObserver(() => redraw.current());
    resized.observe(element);
    const endColours = onColoursChange(() => redraw.current());
    redraw.current();
    return () => {
      cancelAnimationFrame(frame);
      resized.disconnect();
      endColours();
    };
  }, []);
  useEffect(() => {
    target.current = { activity, shardCount };
    redraw.current();
  }, [activity, shardCount]);

  const active = activity?.filter(isActive).length ?? 0;
  const label = `${formatWhole(shardCount)} ${shardCount === 1 ? "shard" : "shards"}, ${formatWhole(active)} written recently`;
  return <canvas class="shard-strip" ref={canvas} role="img" aria-label={label} />;
}

/** Moves the picture by one frame. @returns whether it has not reached the target */
function moveTowards(picture: Picture, { activity = [], shardCount }: Target): boolean {
  const step = allowsMotion() ? 0.16 : 1;
  const count = Math.max(shardCount, (activity.at(-1)?.index ?? 0) + 1);
  picture.count += (count - picture.count) * step;
  if (Math.abs(count - picture.count) < 0.02 * count) picture.count = count;
  const targets = new Array<number>(count).fill(0);
  for (const { index, perSecond } of activity) targets[index] = colourStrength(perSecond);
  let isMoving = picture.count !== count;
  picture.colours.length = Math.max(count, Math.ceil(picture.count));
  for (let i = 0; i < picture.colours.length; i++) {
    const target = targets[i] ?? 0;
    const colour = picture.colours[i] ?? 0;
    const next = Math.abs(target - colour) < 0.004 ? target : colour + (target - colour) * step;
    picture.colours[i] = next;
    if (next !== target) isMoving = true;
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
  const { rows, columns } = cellGrid(picture.count, width, height);
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
