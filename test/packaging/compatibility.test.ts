/** The packed packages, what is in them, and that they work in apps that install them with every version of `peers.ts`. */
import { readdirSync, readFileSync } from "node:fs";
import { transform } from "esbuild";
import getPort from "get-port";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { FUNCTIONS } from "../../functions/src/decisions.ts";
import { admin } from "../../testkit/clients.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "../browser/chromium.ts";
import { type Consumer, openWorkshop, type Workshop } from "./consumer.ts";
import {
  cells,
  companions,
  compatibilityTables,
  formats,
  modules,
  newest,
  type Peers,
  peers,
  programs,
  tools,
} from "./peers.ts";
import { serve } from "./serve.ts";

const passed = new Set<string>();
const apps = new Map<Peers | keyof typeof tools, Promise<Consumer>>();
const browser = browserForTests();
let workshop: Workshop;

beforeAll(async () => {
  workshop = await openWorkshop();
  for (const app of peers) apps.set(app, install(app));
  installTools();
  // Each is awaited by the tests that need it.
  for (const app of apps.values()) app.catch(() => {});
});
afterAll(async () => {
  console.log(`\n${compatibilityTables((cell) => passed.has(cell))}\n`);
  await workshop.close();
}, 300_000);

test("docs/compatibility.md has these tables", () => {
  expect(read("../../docs/compatibility.md")).toContain(compatibilityTables(() => true));
});

test("the client package has the code, the types, the rules and the indexes, a readme and a license, and nothing else", {
  timeout: 400_000,
}, async () => {
  const { folder } = await appOf(newest);
  const filesIn = (part: string) => readdirSync(`${folder}/node_modules/firestore-tally/${part}`).sort();
  const documents = [
    "LICENSE",
    "README.md",
    "firestore.indexes.json",
    "firestore.rules",
    "ops",
    "package.json",
    "samples",
  ];
  expect(filesIn(".")).toEqual([...documents, "dist"].sort());
  const code = [".js", ".js.map", ".cjs", ".cjs.map"].flatMap((ending) =>
    ["admin", "beacon", "index", "react", "recovery", "serverTime", "testing", "totals", "whyRefused"].map(
      (entry) => entry + ending,
    ),
  );
  const types = [".d.ts", ".d.cts"].flatMap((ending) =>
    ["admin", "beacon", "index", "react", "testing"].map((entry) => entry + ending),
  );
  expect(filesIn("dist")).toEqual([...code, ...types, "cli.js", "cli.licenses.txt"].sort());
});

test("the client package brings the command line along", { timeout: 400_000 }, async () => {
  const app = await appOf(newest);
  await admin.doc("counters/compatibility:cli/shards/0").set({ count: 7, writes: 1 });
  const inspection = await app.run("firestore-tally", ["inspect", "compatibility:cli", "--json"]);
  expect(JSON.parse(inspection)).toMatchObject({ id: "compatibility:cli", exact: { total: 7 } });
});

/** A cell of the tables. */
function cell(name: string, run: () => Promise<void>, concurrent = true): void {
  test(name, { concurrent, timeout: 400_000 }, async () => {
    await run();
    passed.add(name);
  });
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

async function appOf(key: Peers | keyof typeof tools): Promise<Consumer> {
  return (await apps.get(key)) as Consumer;
}

async function install(app: Peers): Promise<Consumer> {
  const { react, ...others } = app;
  const major = react.split(".")[0] as string;
  const consumer = await workshop.install(`firebase-${app.firebase}`, {
    ...others,
    react,
    "react-dom": react,
    "@types/react": major,
    "@types/react-dom": major,
    "@types/node": "20",
  });
  for (const program of [...programs, "refused"]) {
    const source = read(`programs/${program}.ts`);
    for (const ending of ["ts", "mts", "cts"]) consumer.write(`${program}.${ending}`, source);
    for (const [format, ending] of [
      ["esm", "mjs"],
      ["cjs", "cjs"],
    ] as const) {
      consumer.write(`${program}.${ending}`, (await transform(source, { loader: "ts", format })).code);
    }
  }
  return consumer;
}

const outcomes = {
  web: { exact: 2, published: 2, read: 2, code: "counter/invalid-amount" },
  server: { exact: 2, settled: 2, watched: 2, read: 2, code: "counter/invalid-amount" },
  render: { html: "<b>42</b>" },
} satisfies Record<(typeof programs)[number], object>;

for (const app of peers) {
  for (const [format, ending] of Object.entries(formats)) {
    for (const program of programs) {
      cell(cells.run(app, format, program), async () => {
        const consumer = await appOf(app);
        const id = `compatibility:${app.firebase}-${ending}-${program}`;
        const printed = await consumer.run("node", [`${program}.${ending}`, id]);
        expect(JSON.parse(printed)).toEqual(outcomes[program]);
      });
    }
  }
  for (const [module, endings] of Object.entries(modules)) {
    cell(cells.types(app, module), async () => {
      const consumer = await appOf(app);
      const files = [...programs, "refused"].flatMap((program) => endings.map((ending) => `${program}.${ending}`));
      const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--lib", "es2022,dom"];
      const resolution = module === "esnext" ? ["--moduleResolution", "bundler"] : [];
      await consumer.run("tsc", [...options, "--types", "node", "--module", module, ...resolution, ...files]);
    });
  }
}

/** One app for all tools but those that want their dependencies otherwise. */
function installTools(): void {
  const versions = Object.fromEntries(Object.entries(tools).map(([name, [version]]) => [name, version]));
  const { next = "", "firebase-functions": functions = "", ...others } = versions;
  const native = "@react-native-firebase/firestore";
  const { [native]: nativeVersion = "", ...together } = others;
  const { typescript, esbuild } = companions;
  const { typescript: _, ...sdks } = newest;
  const all = workshop.install("tools", { ...sdks, ...together, ...companions });
  for (const tool of Object.keys(together)) apps.set(tool as keyof typeof tools, all);
  apps.set("next", workshop.install("next", { ...sdks, "react-dom": sdks.react, next }, "test/packaging/apps/next"));
  const nativeApp = { "@react-native-firebase/app": nativeVersion, [native]: nativeVersion, typescript, esbuild };
  // React Native itself is left out.
  apps.set(native, workshop.install("native", nativeApp, "examples/react-native", ["--legacy-peer-deps"]));
  const kit = { "firestore-tally-kit": workshop.kit, "firebase-functions": functions, typescript };
  apps.set("firebase-functions", workshop.install("kit", kit));
}

const [, emulatorPort = ""] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
const project = process.env.GCLOUD_PROJECT ?? "";

cell("jest", async () => {
  const app = (await appOf("jest")).at("jest", "test/packaging/apps/jest");
  await app.run("jest", ["--rootDir", "."]);
});

cell("@angular/core", async () => {
  const app = (await appOf("@angular/core")).at("angular", "examples/angular");
  await app.run("tsc", ["-p", "."]);
  app.write("run.ts", read("apps/angular/run.ts"));
  expect(JSON.parse(await app.run("node", ["run.ts"]))).toEqual([null, 1, 1]);
});

cell("@react-native-firebase/firestore", async () => {
  const app = await appOf("@react-native-firebase/firestore");
  await app.run("tsc", ["-p", "."]);
  for (const file of ["bundle.mjs", "count.ts", "platform.ts"]) app.write(file, read(`apps/react-native/${file}`));
  await app.run("node", ["bundle.mjs"]);
  const printed = JSON.parse(await app.run("node", ["count.cjs"]));
  expect(printed).toEqual({ exact: 2, read: "number", refused: "counter/permission-denied" });
});

cell("firebase-functions", async () => {
  const app = await appOf("firebase-functions");
  const template = (file: string) =>
    read(`../../node_modules/firebase-tools/templates/init/functions/typescript/${file}`);
  app.write("src/index.ts", template("index-kit.ts").replace("{{PACKAGE_NAME}}", "firestore-tally-kit"));
  app.write("tsconfig.json", template("tsconfig.json"));
  await app.run("tsc", []);
  const program = "const kit = require('./lib/index.js'); Object.keys(kit).filter((name) => kit[name]).sort().join()";
  const printed = await app.run("node", ["-p", program], { FIREBASE_KIT_INSTANCE_ID: "tally" });
  expect(printed.trim()).toBe([...FUNCTIONS.keys(), "regionParam"].sort().join());
});

// One after the other: they share the browser.
const bundlers: Partial<Record<keyof typeof tools, { source: string; command: string[] }>> = {
  vite: { source: "test/packaging/apps/page", command: ["vite", "build"] },
  webpack: { source: "test/packaging/apps/page", command: ["webpack"] },
  vue: { source: "examples/vue", command: ["vite", "build"] },
  svelte: { source: "examples/svelte", command: ["vite", "build"] },
};
for (const [tool, { source, command }] of Object.entries(bundlers)) {
  const build = async () => {
    const app = (await appOf(tool as keyof typeof tools)).at(tool, source);
    if (source.endsWith("page"))
      app.write("page.js", (await transform(read("apps/page/page.ts"), { loader: "ts" })).code);
    const [program = "", ...args] = command;
    const env = { EMULATOR_PORT: emulatorPort, VITE_PROJECT: project, VITE_EMULATOR_PORT: emulatorPort };
    await app.run(program, args, env);
    // Webpack leaves the page to the app.
    if (tool === "webpack") app.write("dist/index.html", read("apps/page/index.html"));
    const site = await serve(`${app.folder}/dist`);
    onTestFinished(() => site.close());
    const tab = await browser.visit(`${site.address}/?id=compatibility:${tool}`);
    await tab.shows("views", 0);
    await tab.click("views");
    await tab.shows("views", 1);
    expect(tab.problems).toEqual([]);
  };
  cell(tool, build, false);
}

const buildNext = async () => {
  const app = await appOf("next");
  const env = { NEXT_PUBLIC_PROJECT: project, NEXT_PUBLIC_EMULATOR_PORT: emulatorPort, NEXT_TELEMETRY_DISABLED: "1" };
  await app.run("next", ["build"], env);
  const port = await getPort();
  const stop = app.start("next", ["start", "--port", `${port}`], env);
  onTestFinished(stop);
  const address = `http://localhost:${port}/`;
  const html = async () => (await fetch(address).catch(() => undefined))?.text();
  await until(async () => (await html()) !== undefined, "Next.js to answer");
  expect(await html()).toContain('id="views">0</button>');
  const tab = await browser.visit(address);
  await tab.click("views");
  await tab.shows("views", 1);
  await until(async () => (await html())?.includes('id="views">1</button>') ?? false, "the server to render the total");
  expect(tab.problems).toEqual([]);
};
cell("next", buildNext, false);
