import { defineConfig } from "vitest/config";

/** They measure time and share one suite. */
const onSuite = {
  fileParallelism: false,
  // What is marked as concurrent mostly waits.
  maxConcurrency: 20,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  teardownTimeout: 20_000,
  // Error messages in the list at the end show values whole.
  chaiConfig: { truncateThreshold: 0 },
} as const;

/** Need no emulator. */
const WITHOUT_EMULATORS = [
  "test/docs/{deployment,facts,guide,links,markSizes,operations,security}.test.ts",
  "test/mobile/{conformance,planners,vectors}.test.ts",
  "test/simulation/users.test.ts",
];

/** `doctor` asks the Functions emulator which functions are loaded. */
const IN_FUNCTIONS_EMULATOR = ["test/packaging/doctor.test.ts", "test/docs/cli.test.ts"];

/** Each starts what it needs itself: a suite, or a rehearsal of a deployment. */
const PACKAGING = "test/packaging/{emulatorImport,kit,rehearsal,setup,upgrade,withoutFeature}.test.ts";

/** Models of Firestore, which change rarely, and the test of an app, whose project is the default one. */
const TOOLS = ["test/simulation/emulator/*.test.ts", "test/testkit/governor.test.ts", "test/examples/appTest.test.ts"];

export default defineConfig({
  test: {
    tags: [
      { name: "deep", description: "Takes so long that `npm test` leaves it to `npm run test:deep`." },
      { name: "nightly", description: "Takes so long that both leave it to `npm run test:nightly`." },
    ],
    // Unit tests stand beside their source and need nothing, nor does the simulation; the others need the emulators.
    projects: [
      {
        test: {
          name: "unit",
          // A process for each of so many short files would take longer than the tests.
          isolate: false,
          // A property on a busy machine takes longer than the five seconds that are the default.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          include: [
            "{core,client,firestore,admin,functions,costs,cli,web}/src/**/*.test.ts",
            "client/*.test.ts",
            "{bench,testkit,scripts}/**/*.test.ts",
            ...WITHOUT_EMULATORS,
          ],
        },
      },
      {
        test: {
          ...onSuite,
          name: "emulators",
          // Several files at a time, each with a project and functions of its own.
          fileParallelism: true,
          setupFiles: ["testkit/emulators/projectOfWorker.ts"],
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/simulation/*.test.ts",
            "test/{faults,browser,migration,adopting,regions}/**",
            "test/{topItems,visitors}/**",
            "test/packaging/{compatibility,endToEnd,eventLog}.test.ts",
            PACKAGING,
            "test/functions/ingestFaults.test.ts",
            ...IN_FUNCTIONS_EMULATOR,
            "test/mobile/kotlin.test.ts",
            ...TOOLS,
            ...WITHOUT_EMULATORS,
          ],
        },
      },
      { test: { ...onSuite, name: "endToEnd", include: ["test/packaging/endToEnd.test.ts"] } },
      { test: { ...onSuite, name: "doctor", include: IN_FUNCTIONS_EMULATOR, sequence: { groupOrder: 1 } } },
      // Needs Pub/Sub, and a topic for the log, which costs an invocation for each entry.
      {
        test: {
          ...onSuite,
          name: "pubsub",
          include: ["test/packaging/eventLog.test.ts", "test/functions/ingestFaults.test.ts"],
        },
      },
      // The next four share a suite, too, and its cores: in the order of their groups.
      { test: { ...onSuite, name: "browser", include: ["test/browser/*.test.ts"], sequence: { groupOrder: 1 } } },
      {
        test: {
          ...onSuite,
          name: "packages",
          include: ["test/packaging/compatibility.test.ts"],
          // Two cores install and compile.
          maxConcurrency: 3,
          sequence: { groupOrder: 3 },
        },
      },
      { test: { ...onSuite, name: "migration", include: ["test/migration/*.test.ts"], sequence: { groupOrder: 4 } } },
      { test: { ...onSuite, name: "adopting", include: ["test/adopting/*.test.ts"] } },
      { test: { ...onSuite, name: "tools", include: TOOLS, sequence: { groupOrder: 5 } } },
      // Fetches a compiler, where none is installed, and runs it several times.
      { test: { name: "mobile", include: ["test/mobile/kotlin.test.ts"], testTimeout: 600_000 } },
      {
        test: {
          name: "simulation",
          isolate: false,
          // It runs beside other tests, at the lowest priority.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          include: ["test/simulation/*.test.ts", "test/{topItems,visitors}/*.test.ts"],
          exclude: WITHOUT_EMULATORS,
        },
      },
      // Each of the others starts a suite of its own, or needs none: it installs the kit itself, or breaks the suite.
      {
        test: {
          name: "packaging",
          include: [PACKAGING],
          fileParallelism: false,
          testTimeout: 240_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: "faults",
          include: ["test/{faults,regions}/*.test.ts"],
          testTimeout: 400_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
