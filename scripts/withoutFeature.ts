/**
 * What is left without a feature: a copy of the project, in which the feature's folder, its lines in the lists of features and its other
 * parts are deleted, compiles, passes its unit tests and counts on the emulator.
 *
 *     node scripts/withoutFeature.ts history
 *
 * A feature that needs the deleted one goes with it. The command line, the costs and the simulators speak of every feature: they are left out.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FEATURE_PLANS } from "../functions/src/features/plans.ts";
import { bundleFunctions } from "./bundleFunctions.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What a feature has outside of its folder and the lists. Conditions of the rules that refuse writes may stay. */
interface Parts {
  /** Files of the client. What `index.ts` exports from them goes, too. */
  readonly client?: readonly string[];
  /** Blocks of the rules, by how their first line begins. */
  readonly rules?: readonly string[];
}

const PARTS: Readonly<Record<string, Parts>> = {
  visitors: {
    client: ["visitors.ts"],
    rules: ["match /tallyVisitors/", "function isVisitor(", "function addsHash(", "function countsVisitors("],
  },
  items: { client: ["topItems.ts"], rules: ["match /tallySketches/topItems "] },
  history: { rules: ["match /tallyHistory/"] },
  regions: { client: ["regions.ts", "nearestRegion.ts"] },
  stock: { client: ["stock.ts"] },
};

/** What counts: the code of servers and of the functions, what both share, and the client. */
const CODE = ["core", "firestore", "admin", "client", "functions"];

/** Tests that say of each feature what it adds. */
const ABOUT_ALL = ["config", "deployment", "manifest"].map((name) => `functions/src/deploy/${name}.test.ts`);

const [name = ""] = process.argv.slice(2);
if (!FEATURE_PLANS.some((plan) => plan.name === name)) {
  console.error(`Usage: node scripts/withoutFeature.ts ${FEATURE_PLANS.map((plan) => plan.name).join("|")}`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), `without-${name}-`));
try {
  const deleted = withThoseThatNeed(name);
  copy();
  for (const feature of deleted) remove(feature);
  run("node", "scripts/derived.ts");
  const include = CODE.map((folder) => `${folder}/src`);
  writeFileSync(
    join(folder, "without.json"),
    JSON.stringify({ extends: "./tsconfig.json", include, exclude: ["**/*.test.ts"] }),
  );
  run("node_modules/.bin/tsc", "-p", "without.json");
  await bundleFunctions(folder);
  run(
    "node_modules/.bin/vitest",
    "run",
    "--project",
    "unit",
    ...CODE.map((code) => `${code}/src`),
    ...ABOUT_ALL.flatMap((file) => ["--exclude", file]),
  );
  run("node", "testkit/emulators/run.ts", "--", "node", "scripts/countOnce.ts");
  console.log(`Without ${deleted.join(", ")} it compiles, passes its unit tests, and counts.`);
} finally {
  rmSync(folder, { recursive: true });
}

/** A feature, and all that need it, or one of these. */
function withThoseThatNeed(feature: string): string[] {
  const needing = FEATURE_PLANS.filter(({ needs = [] }) => needs.includes(feature)).map((plan) => plan.name);
  return [...new Set([feature, ...needing.flatMap(withThoseThatNeed)])];
}

function copy(): void {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const file of listed.trim().split("\n"))
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

function remove(feature: string): void {
  rmSync(join(folder, "functions/src/features", feature), { recursive: true });
  for (const list of ["plans", "features"])
    edit(`functions/src/features/${list}.ts`, (text) =>
      text.replaceAll(new RegExp(`^(?:import .*/${feature}/.*| {2}${feature}(?:Plan)?,)\\n`, "gm"), ""),
    );
  const { client = [], rules = [] } = PARTS[feature] ?? {};
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

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
}
