/** Text from the database as it may be printed: ids are chosen by clients, and could act on a terminal or a shell. */

/** C0, DEL, C1, and characters that change the direction of text, which can make one id look like another. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Those that JSON leaves as they are. */
const CONTROLS_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Prints control characters of JSON as JSON does, so that a terminal does not act on them. Its value stays the same. */
export function escapeJson(json: string): string {
  return json.replace(CONTROLS_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Prints control characters as `\u{1b}`. For ids, groups, paths and messages; not for JSON. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Quotes a word for a shell. The result is safe to print, and the shell reads exactly this word. */
export function shellQuote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (escapeControls(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  // Bytes in octal: every shell that has $'…' reads them alike.
  const octal = (character: string) =>
    [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`);
  return `$'${word.replace(/[\\']/g, "\\$&").replace(CONTROLS, (character) => octal(character).join(""))}'`;
}
