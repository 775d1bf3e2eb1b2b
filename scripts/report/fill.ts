/** Documents with computed parts. */

/** What is computed, by name. */
export type Parts = Readonly<Record<string, string>>;

/**
 * Replaces what stands between `<!-- name -->` and `<!-- /name -->` by the part of that name. A document need not show every
 * part.
 *
 * @throws Error if a document has a place for an unknown part, whose figures would stay as they are
 */
export function fill(document: string, parts: Parts): string {
  return document.replace(/^<!-- ([\w:]+) -->\n[\s\S]*?^<!-- \/\1 -->$/gm, (_, name: string) => {
    const part = parts[name];
    if (part === undefined)
      throw new Error(`<!-- ${name} --> names no computed part: ${Object.keys(parts).join(", ")}`);
    return [`<!-- ${name} -->`, ...(part ? ["", part, ""] : []), `<!-- /${name} -->`].join("\n");
  });
}
