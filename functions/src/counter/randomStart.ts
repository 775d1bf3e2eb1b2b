/**
 * A random place among ids. A sweep that has no time for all begins there, so that it does not always leave out the same ones.
 *
 * Most ids begin alike, such as `likes:post`, and a random id as such would be before or after all of them. So it is found character
 * by character: each is the first one at or after a random letter or digit. What all ids have in common may be up to some 60
 * characters. Only in ascending order, because the other one would need an index.
 */

/** What the search may cost. */
const MAX_READS = 100;

const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * @param first      the first id
 * @param firstFrom  the first id at or after a text; `undefined` if there is none. 1 read
 */
export async function randomStart(
  first: string,
  firstFrom: (text: string) => Promise<string | undefined>,
): Promise<string> {
  let start = first;
  /** How many characters of `start` are found. */
  let found = 0;
  let choices = ALPHANUMERIC.length;
  for (let reads = 0; reads < MAX_READS && found <= [...start].length; reads++) {
    const beginning = [...start].slice(0, found).join("");
    const choice = Math.floor(Math.random() * choices);
    const next = await firstFrom(beginning + ALPHANUMERIC[choice]);
    const isThere = next?.startsWith(beginning);
    if (isThere) start = next as string;
    // Otherwise all ids that begin so come before it.
    const isFound = isThere || choice === 0;
    if (isFound) found++;
    choices = isFound ? ALPHANUMERIC.length : choice;
  }
  return start;
}
