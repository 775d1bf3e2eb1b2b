/** Which files import which, and the drawing of the folders in CONTRIBUTING.md. `node scripts/imports.ts` renews the drawing. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

export interface Import {
  readonly from: string;
  readonly to: string;
  readonly isTypeOnly?: boolean;
}

/** The packages of this workspace, by the name under which other folders import them. */
const PACKAGES: Readonly<Record<string, string>> = {
  "firestore-tally": "client",
  "firestore-tally/react": "client",
  "firestore-tally/beacon": "client",
  "firestore-tally/testing": "client",
  "firestore-tally/admin": "admin",
  "firestore-tally-kit": "functions",
};

/** `import … from "…"`, `export … from "…"`, `import("…")`; with `type` if it leaves nothing at run time. */
const IMPORT = /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|\bimport[\s(]+"([^"]+)"/gm;

/** The imports of all files under version control. Those of packages from npm are left out. */
export function allImports(): Import[] {
  const files = execFileSync("git", ["ls-files", "*.ts", "*.tsx", "*.mjs"], { encoding: "utf8" }).trim().split("\n");
  return files.flatMap((from) =>
    [...readFileSync(from, "utf8").matchAll(IMPORT)].flatMap(([, type, named, name = named ?? ""]) => {
      const to = name.startsWith(".") ? normalize(`${dirname(from)}/${name}`) : PACKAGES[name];
      return to === undefined || to.startsWith("node_modules/") ? [] : [{ from, to, isTypeOnly: type !== undefined }];
    }),
  );
}

/** The imports between folders at the top level, each once. */
export function folderImports(imports: readonly Import[]): Import[] {
  const edges = new Set(
    imports.map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`).filter((edge) => !/^(\S+) \1$/.test(edge)),
  );
  return [...edges].sort().map((edge) => {
    const [from = "", to = ""] = edge.split(" ");
    return { from, to };
  });
}

export function folderOf(path: string): string {
  return path.split("/")[0] ?? path;
}

/** A chain of imports that ends where it begins, if there is one: `[a, b, a]`. */
export function findCircle(imports: readonly Import[]): string[] | undefined {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const finished = new Set<string>();
  const visit = (file: string, chain: readonly string[]): string[] | undefined => {
    if (chain.includes(file)) return [...chain.slice(chain.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const { to } of targets.get(file) ?? []) {
      const circle = visit(to, [...chain, file]);
      if (circle) return circle;
    }
    finished.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const circle = visit(file, []);
    if (circle) return circle;
  }
  return undefined;
}

/** A Mermaid diagram. An import that another chain of imports implies is not drawn. */
export function draw(edges: readonly Import[]): string {
  const isImplied = ({ from, to }: Import) =>
    edges.some((edge) => edge.from === from && edge.to !== to && reaches(edge.to, to, edges));
  const lines = edges.filter((edge) => !isImplied(edge)).map(({ from, to }) => `  ${from} --> ${to}`);
  return ["```mermaid", "flowchart TD", ...lines, "```"].join("\n");
}

function reaches(from: string, to: string, edges: readonly Import[]): boolean {
  return from === to || edges.some((edge) => edge.from === from && reaches(edge.to, to, edges));
}

/** The drawing's place in CONTRIBUTING.md. */
export const DRAWING = /(?<=<!-- imports -->\n\n).*?(?=\n\n<!-- \/imports -->)/s;

if (import.meta.main) {
  const document = readFileSync("CONTRIBUTING.md", "utf8");
  writeFileSync("CONTRIBUTING.md", document.replace(DRAWING, draw(folderImports(allImports()))));
}
