/** Which parameters the functions have, by how they are loaded: an extension's are its manifest's, the others' the code's. */
import { readFileSync } from "node:fs";
import type { Packaging } from "./project.ts";

export interface Parameters {
  readonly names: readonly string[];
  /** The file that says so. */
  readonly declaredIn: string;
}

export function parametersOf(packaging: Packaging): Parameters {
  const [declaredIn, declaration] =
    packaging === "extension"
      ? ["extension.yaml", /^ +- param: (\w+)$/gm]
      : ["functions/src/parameters.ts", /\bdefine(?:Int|String)\("(\w+)"/g];
  const text = readFileSync(new URL(`../../${declaredIn}`, import.meta.url), "utf8");
  return { names: [...text.matchAll(declaration)].map(([, name = ""]) => name), declaredIn };
}
