/** The parameters of the functions: an extension declares them in its manifest, the other packagings in code. */
import { readFileSync } from "node:fs";
import { PARAMETERS } from "../../functions/src/deploy/parameters.ts";
import type { Packaging } from "./project.ts";

export interface Parameters {
  readonly names: readonly string[];
  /** The file that declares them. */
  readonly declaredIn: string;
}

export function parametersOf(packaging: Packaging): Parameters {
  if (!packaging.startsWith("extension")) return { names: Object.keys(PARAMETERS), declaredIn: "functions/src" };
  const text = readFileSync(new URL("../../extension.yaml", import.meta.url), "utf8");
  return {
    names: [...text.matchAll(/^ +- param: (\w+)$/gm)].map(([, name = ""]) => name),
    declaredIn: "extension.yaml",
  };
}
