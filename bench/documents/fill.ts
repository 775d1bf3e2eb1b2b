/**
 * Documents whose figures are computed: what stands between `<!-- name -->` and `<!-- /name -->` is replaced by the part of
 * that name. A name that only one side knows is an error, or a figure would stay behind when its part is renamed.
 */
import { markdownTable } from "markdown-table";

/** What is computed, by name. */
export type Parts = Readonly<Record<string, string>>;

export function fill(document: string, parts: Parts): string {
  const filled = new Set<string>();
  const result = document.replace(/^<!-- ([\w:]+) -->\n[\s\S]*?^<!-- \/\1 -->$/gm, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`<!-- ${name} --> is no part that is computed`);
    filled.add(name);
    return [`<!-- ${name} -->`, ...(part ? ["", part, ""] : []), `<!-- /${name} -->`].join("\n");
  });
  const left = Object.keys(parts).filter((name) => !filled.has(name));
  if (left.length > 0) throw new Error(`no place for <!-- ${left.join(" -->, <!-- ")} -->`);
  return result;
}

/** @param left  how many columns are of words; those after them are of numbers */
export function table(head: readonly string[], left: number, rows: readonly (readonly string[])[]): string {
  const align = head.map((_, column) => (column < left ? "" : "right"));
  return markdownTable([head, ...rows], { align });
}
