/**
 * Writes functions/npm-shrinkwrap.json: what the kit needs in production, in the versions of package-lock.json, which are those that
 * the tests run with. `firebase functions:kits:install` warns of a package that has none. npm does the selection. There are no
 * addresses in it: npm asks the registry of the machine that installs.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("..", import.meta.url));
const NAME = "npm-shrinkwrap.json";

interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Record<string, { readonly link?: boolean }>;
}

/** @returns the text of the file */
export function shrinkwrap(): string {
  const folder = mkdtempSync(join(tmpdir(), "tally-shrinkwrap-"));
  try {
    const { lockfileVersion, packages }: Lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8"));
    const installedIn = (workspace: string) =>
      Object.entries(packages)
        .filter(([path, { link }]) => path.startsWith(`${workspace}node_modules/`) && !link)
        .map(([path, entry]) => [path.slice(workspace.length), entry] as const);
    const versions = Object.fromEntries([...installedIn(""), ...installedIn("functions/")]);
    copyFileSync(join(repository, "functions/package.json"), join(folder, "package.json"));
    writeFileSync(join(folder, NAME), JSON.stringify({ lockfileVersion, requires: true, packages: versions }));
    const options = ["--package-lock-only", "--ignore-scripts", "--omit=dev", "--omit-lockfile-registry-resolved"];
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", ...options], { cwd: folder });
    return readFileSync(join(folder, NAME), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) writeFileSync(join(repository, "functions", NAME), shrinkwrap());
