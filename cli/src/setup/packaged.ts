/** What is shipped beside the command line: the rules, the indexes, the samples. */
import { readFileSync } from "node:fs";
import manifest from "../../../client/package.json" with { type: "json" };

export const { version: VERSION } = manifest;

const REPOSITORY = manifest.repository.url.replace(/^git\+|\.git$/g, "");

/** The docs. */
export const PAGES = `${REPOSITORY}/blob/main/docs`;

/** From the built command line, or from this file in the repository. */
const FOLDER = import.meta.url.endsWith("/dist/cli.js") ? "../" : "../../../client/";

/** The text of a file of the package. */
export function packaged(path: string): string {
  return readFileSync(new URL(`${FOLDER}${path}`, import.meta.url), "utf8");
}
