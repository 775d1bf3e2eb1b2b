/** The parameters of the functions: an extension declares them in its manifest, the other packagings in code. */
import { readFileSync } from "node:fs";
import type { Packaging } from "./project.ts";

export interface Parameters {
  readonly names: readonly string[];
  /** The file that declares them. */
  readonly declaredIn: string;
}

export function parametersOf(packaging: Packaging): Parameters {
  const [declaredIn, declaration] = packaging.startsWith("extension")
    ? ["extension.yaml", /^ +- param: (\w+)$/gm]
    : ["functions/src/deploy/parameters.ts", /\bdefine(?:Int|String)\("(\w+)"/g];
  const text = readFileSync(new URL(`../../${declaredIn}`, import.meta.url), "utf8");
  return { names: [...text.matchAll(declaration)].map(([, name = ""]) => name), declaredIn };
}
