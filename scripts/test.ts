/**
 * The tests: units and the emulators. `deep` is what takes longer: simulation, a browser, fuzzing, packagings, faults, and the README's
 * demonstration. `nightly` is the rest: compilers, old versions, latency, regions.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CHOSEN } from "../testkit/rules.ts";

const params = [
  // The features whose functions are deployed only then.
  "VISITORS=ingest",
  "ITEMS=yes",
  `WINDOWS=${CHOSEN.windows}`,
  `HISTORY=${CHOSEN.history}`,
  // So that shrinking and folding can be seen within a test.
  "SHRINK_COOLDOWN_SECONDS=5",
  "COUNTED_COLLECTION=posts/{post}/comments",
  "MIRRORS=comments=posts/{name}.comments, mirrored=mirrors/{name}.stats.total",
  "BRIDGE=visits=pages/{name}.visits, stars=pages/{name}.stats.stars, members:{team}:{room}=teams/{team}/rooms/{room}.members, reads=articles/{name}.reads",
];
/** How many test files run at a time on the hosted functions: most of their time they wait. */
const HOSTS = 4;
const emulators = (...options: string[]) => [
  "node",
  "testkit/emulators/run.ts",
  ...params.flatMap((param) => ["--param", param]),
  ...options,
  "--",
];
const vitest = (...projects: string[]) => ["vitest", "run", ...projects.flatMap((name) => ["--project", name])];
const hosted = [
  ...emulators("--as", "hosted", "--hosts", `${HOSTS}`),
  ...vitest("emulators"),
  ...["--maxWorkers", `${HOSTS}`, "--tags-filter"],
];
const logged = [
  "INGEST_COUNTERS=/ingested:.*/",
  "INGEST_TOPIC=tally-events",
  "EVENTS_TOPIC=tally-log",
  "EVENTS_COLLECTION=counters",
].flatMap((param) => ["--param", param]);
const adopting = ["ADOPTED=yes", "BRIDGE=stars=walls/{wall}.stars", "WINDOWS=hits"].flatMap((param) => [
  "--param",
  param,
]);
const IS_SHORT = "!deep && !nightly";
// The packagings differ in how functions are wired up, not in what they can take.
const withoutLoad = ["-t", "^(?!100 increments)"];

/** Stages: the command of each, by name. */
type Stages = Readonly<Record<string, readonly string[]>>;

interface Suite {
  /** They measure no time, and run one after another beside `tolerant`. */
  readonly untimed: Stages;
  /** They use the emulators, and tolerate that other tests run at the same time. */
  readonly tolerant: Stages;
  /** They measure time, or break their emulators, and run alone. */
  readonly alone: Stages;
}

const beside = (...command: string[]) => ["nice", "-n", "19", ...command];

const SUITES: Readonly<Record<string, Suite>> = {
  test: {
    untimed: { "unit tests": [...vitest("unit"), "--maxWorkers", "2"] },
    tolerant: { "on the emulators": [...hosted, IS_SHORT] },
    alone: {
      "end to end, in the Functions emulator": [
        ...emulators(),
        ...vitest("endToEnd", "doctor"),
        ...["--tags-filter", IS_SHORT],
      ],
    },
  },
  deep: {
    untimed: {
      "the site of the documents": beside("npm", "run", "--silent", "--workspace", "site", "build"),
      "simulation of faults": beside(...vitest("simulation")),
    },
    tolerant: {
      "what takes longer on the emulators": [...hosted, "deep"],
      // One after another on one suite.
      "in a browser, moving from Google's counter, tools": [
        ...emulators("--as", "hosted"),
        ...vitest("browser", "migration", "tools"),
      ],
      "adopting counters made by hand": [...emulators("--as", "hosted", ...adopting), ...vitest("adopting")],
    },
    alone: {
      "end to end, as an extension": [...emulators("--as", "extension"), ...vitest("endToEnd"), ...withoutLoad],
      "end to end, as a function kit": [
        ...emulators("--as", "kit", ...logged),
        ...vitest("endToEnd", "pubsub"),
        ...withoutLoad,
      ],
      "init, the kit as it is installed, a rehearsed deployment": [
        ...vitest("packaging"),
        ...["setup", "kit", "rehearsal", "--tags-filter", "!nightly"],
      ],
      "faults on a suite of their own": [...vitest("faults"), "test/faults"],
      // The first 300 of 20,000: the same code in a fraction of the time.
      "npm start -- --once --flights 300": [
        ...["node", "testkit/emulators/run.ts", "--as", "hosted", "--", "node", "demo/flights.ts"],
        ...["--once", "--flights", "300"],
      ],
    },
  },
  nightly: {
    untimed: {
      "the Android client, compiled": beside(...vitest("mobile")),
      "units, each property ten times as often": beside(...vitest("unit")),
      "simulation of faults, all seeds": beside(...vitest("simulation")),
    },
    tolerant: {
      "what takes longest on the emulators": [...hosted, "nightly"],
      "a hundred devices of changing users, in a browser": [
        ...emulators("--as", "hosted"),
        ...vitest("browser"),
        "test/browser/users.test.ts",
      ],
      "every version of each peer": [...emulators("--as", "hosted"), ...vitest("packages")],
    },
    alone: {
      "from the extension to the kit, an import of emulator data, without each feature": [
        ...vitest("packaging"),
        ...["upgrade", "emulatorImport", "withoutFeature"],
      ],
      "every rehearsed deployment": [...vitest("packaging"), ...["rehearsal", "--tags-filter", "nightly"]],
      "end to end, 30 ms of latency each way": [
        ...emulators("--latency", "30"),
        ...vitest("endToEnd"),
        ...["-t", "100 increments"],
      ],
      "three regions on a suite of their own": [...vitest("faults"), "test/regions"],
    },
  },
};
const [name = "test"] = process.argv.slice(2);
const suite = SUITES[name];
if (!suite) throw new Error(`${name}: it is one of ${Object.keys(SUITES).join(", ")}`);
const isLong = name !== "test";
process.env.TALLY_SUITE = name;

/** What is used of Vitest's report in JSON: https://vitest.dev/guide/reporters.html#json-reporter */
interface Report {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Twice what any stage takes on two slow cores. A stage that hangs is ended then, and named. */
const LONGEST_MS = (isLong ? 25 : 12) * 60_000;

const reports = mkdtempSync(join(tmpdir(), "tally-tests-"));
const failed: string[] = [];
const unsteady: string[] = [];

/**
 * Runs a stage of tests. Up to three of its files that fail on the emulators run once more, alone on a new suite, because the
 * emulator's reads and watches miss a commit now and then. So does a stage that hangs. The end of the output names them.
 */
async function run(name: string, command: readonly string[], atOnce = true): Promise<void> {
  const { code, hangs, report } = await runOnce(name, command, atOnce);
  if (code === 0) return;
  const files = failingFiles(report);
  const failures = [name, ...(hangs ? [`did not end within ${LONGEST_MS / 60_000} minutes`] : failuresIn(report))].join(
    "\n  ",
  );
  const mayPass = command.includes("vitest") && command.includes("testkit/emulators/run.ts");
  const isFew = hangs || (files.length > 0 && files.length <= 3);
  const again = hangs ? command : [...command, ...files, "--no-file-parallelism"];
  const title = `${name}: ${hangs ? "all" : `${files.length} file(s)`} again, alone`;
  if (mayPass && isFew && (await runOnce(title, again, true)).code === 0) unsteady.push(failures);
  else failed.push(failures);
}

/** Runs a program, and prints what it prints: at once, or at its end. */
async function runOnce(
  name: string,
  [program = "", ...args]: readonly string[],
  atOnce: boolean,
): Promise<{ code: number | null; hangs: boolean; report: string }> {
  const start = performance.now();
  const report = join(reports, `${start}.json`);
  const reporters = ["--reporter", "default", "--reporter", "json", "--outputFile.json", report];
  const isVitest = [program, ...args].includes("vitest");
  const title = `\n━━ ${name}\n`;
  if (atOnce) process.stdout.write(title);
  const child = spawn(program, [...args, ...(isVitest ? reporters : [])], {
    stdio: ["inherit", ...(atOnce ? (["inherit", "inherit"] as const) : (["pipe", "pipe"] as const))],
  });
  const closed = once(child, "close");
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => output.push(part));
  let hangs = false;
  const end = setTimeout(() => {
    hangs = true;
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), 60_000).unref();
  }, LONGEST_MS);
  const [code] = await once(child, "exit");
  clearTimeout(end);
  // A process that it has left behind may keep its output open.
  if (!atOnce) await Promise.race([closed, sleep(5_000)]);
  if (!atOnce) process.stdout.write(Buffer.concat([Buffer.from(title), ...output]));
  const seconds = Math.round((performance.now() - start) / 1_000);
  console.log(`━━ ${name}: ${code === 0 ? "passed" : hangs ? "HANGS" : "FAILED"} in ${seconds} s`);
  return { code, hangs, report };
}

async function runAll(commands: Stages, atOnce?: boolean): Promise<void> {
  for (const [name, command] of Object.entries(commands)) await run(name, command, atOnce);
}

const { untimed, tolerant, alone } = suite;
await Promise.all([runAll(untimed, false), runAll(tolerant)]);
await runAll(alone);

if (unsteady.length > 0) console.log(`\nFailed at first, and passed alone:\n${unsteady.join("\n")}`);
console.log(failed.length > 0 ? `\nFailed:\n${failed.join("\n")}` : "\nEverything passed.");
console.log(
  `${Object.keys({ ...untimed, ...tolerant, ...alone }).length - failed.length} passed, ${failed.length} failed`,
);
process.exit(failed.length > 0 ? 1 : 0);

/** The paths of the files with a test that failed. */
function failingFiles(report: string): string[] {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  return testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
}

/** The tests that failed, each with the start of its error, so that the end of a long output says what to look for. */
function failuresIn(report: string): string[] {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
  return testResults.flatMap(({ message, assertionResults }) => [
    ...(message ? [message.slice(0, 500)] : []),
    ...assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join("\n").slice(0, 500)}`),
  ]);
}
