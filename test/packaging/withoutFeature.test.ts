/**
 * Each feature can be deleted: a copy of the project, in which the feature's folder, its lines in the lists of features and what it has
 * elsewhere are deleted, compiles, passes its unit tests, and counts on the emulators. A feature that needs the deleted one goes with it. The
 * command line, the costs and the simulators speak of every feature: they are left out.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeEach, describe, test } from "vitest";
import { FEATURE_PLANS } from "../../functions/src/features/plans.ts";

/** What a feature has outside of its folder and the lists. Conditions of the rules that refuse writes may stay. */
interface Outside {
  /** Files of the client. What `index.ts` exports from them goes, too. */
  readonly client?: readonly string[];
  /** Blocks of the rules, by how their first line begins. */
  readonly rules?: readonly string[];
}

const OUTSIDE: Readonly<Record<string, Outside>> = {
  visitors: {
    client: ["visitors.ts"],
    rules: ["match /tallyVisitors/", "function isVisitor(", "function addsHash(", "function countsVisitors("],
  },
  items: { client: ["topItems.ts"], rules: ["match /tallySketches/topItems "] },
  history: { rules: ["match /tallyHistory/"] },
  regions: { client: ["regions.ts", "nearestRegion.ts"] },
  stock: { client: ["stock.ts"] },
};

/** The code of servers and of the functions, what both share, and the client. */
const CODE = ["core", "firestore", "admin", "client", "functions"].map((folder) => `${folder}/src`);

/** The bundle of the functions, without what functions/package.json depends on. */
const OUTPUT = ["--outfile=functions/lib/index.js", "--external:@google-cloud/*", "--external:firebase-*"];

/** Tests that say of each feature what it adds. */
const ABOUT_ALL = ["config", "deployment", "manifest"].map((name) => `functions/src/deploy/${name}.test.ts`);

/** The copy. */
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tally-without-"));
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { encoding: "utf8" });
  for (const file of listed.trim().split("\n")) if (existsSync(file)) cpSync(file, join(folder, file));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  return () => rmSync(folder, { recursive: true });
});

describe("the project can do without the feature", { tags: "nightly" }, () => {
  test.each(FEATURE_PLANS.map(({ name }) => name))("%s", (name) => {
    for (const feature of withThoseThatNeed(name)) remove(feature);
    run("node", "scripts/derived.ts");
    const project = { extends: "./tsconfig.json", include: CODE, exclude: ["**/*.test.ts"] };
    writeFileSync(join(folder, "without.json"), JSON.stringify(project));
    run("tsc", "-p", "without.json");
    run("esbuild", "functions/src/index.ts", "--bundle", "--format=esm", "--platform=node", ...OUTPUT);
    run("vitest", "run", "--project", "unit", ...CODE, ...ABOUT_ALL.flatMap((file) => ["--exclude", file]));
    run("node", "testkit/emulators/run.ts", "--as", "hosted", "--", "node", "test/packaging/programs/countOnce.ts");
  });
});

/** A feature, and all that need it, or one of these. */
function withThoseThatNeed(feature: string): string[] {
  const needing = FEATURE_PLANS.filter(({ needs = [] }) => needs.includes(feature)).map((plan) => plan.name);
  return [...new Set([feature, ...needing.flatMap(withThoseThatNeed)])];
}

function remove(feature: string): void {
  rmSync(join(folder, "functions/src/features", feature), { recursive: true });
  for (const list of ["plans", "features"])
    edit(`functions/src/features/${list}.ts`, (text) =>
      text.replaceAll(new RegExp(`^(?:import .*/${feature}/.*| {2}${feature}(?:Plan)?,)\\n`, "gm"), ""),
    );
  const { client = [], rules = [] } = OUTSIDE[feature] ?? {};
  for (const file of client) {
    rmSync(join(folder, "client/src/web", file));
    edit("client/src/web/index.ts", (text) =>
      text.replace(new RegExp(`^export \\{[^}]*\\} from "\\./${file}";\\n`, "m"), ""),
    );
  }
  for (const block of rules) edit("firestore.rules", (text) => withoutBlock(text, block));
}

/** Rules without a block, which ends at the indentation of its first line. */
function withoutBlock(rules: string, beginning: string): string {
  const lines = rules.split("\n");
  const first = lines.findIndex((line) => line.trimStart().startsWith(beginning));
  if (first < 0) throw new Error(`firestore.rules has no ${beginning}`);
  const indentation = /^ */.exec(lines[first] ?? "")?.[0] ?? "";
  const last = lines.findIndex((line, index) => index > first && line === `${indentation}}`);
  return lines.toSpliced(first, last - first + 1).join("\n");
}

function edit(file: string, change: (text: string) => string): void {
  const path = join(folder, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

/** @throws Error with what it has printed, if it fails */
function run(program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
}
