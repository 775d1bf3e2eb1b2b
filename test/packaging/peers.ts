/**
 * Every version that the packed packages are tested with, and the tables of docs/compatibility.md. Each cell is a test of
 * compatibility.test.ts.
 */
import { markdownTable } from "markdown-table";

/** Apps with one version of each peer: the oldest, the newest, and one of each major between. */
export const peers = [
  { firebase: "10.9.0", "firebase-admin": "12.0.0", react: "18.0.0", typescript: "5.4.5" },
  { firebase: "11.10.0", "firebase-admin": "13.10.0", react: "19.0.0", typescript: "6.0.3" },
  { firebase: "12.19.0", "firebase-admin": "14.5.1", react: "19.3.1", typescript: "7.0.2" },
] as const;

export type Peers = (typeof peers)[number];

export const newest = peers[2];

/** How an app may load the package. */
export const formats = { ESM: "mjs", CommonJS: "cjs" } as const;

/** What an app runs in each format; `programs/<name>.ts`. */
export const programs = ["web", "server", "render"] as const;

/** The values of TypeScript's option `module`, and what it is given to check. `node16` resolves as `nodenext` does. */
export const modules = {
  nodenext: ["mts", "cts"],
  esnext: ["ts"],
  commonjs: ["ts"],
} as const;

/** Tools and frameworks, with the newest peers, and what their tests do. */
export const tools = {
  jest: ["30.5.2", "CommonJS tests import every entry, increment, and wait for the total"],
  vite: ["8.3.8", "a production bundle counts in a browser"],
  webpack: ["5.112.2", "a production bundle counts in a browser"],
  next: ["16.4.6", "a server component reads; a client component is rendered on the server and counts in a browser"],
  vue: ["3.5.45", "`examples/vue` counts in a browser"],
  svelte: ["5.57.3", "`examples/svelte` counts in a browser"],
  "@angular/core": ["22.2.6", "`examples/angular` type-checks; its signal counts in Node.js"],
  "@react-native-firebase/firestore": [
    "26.4.0",
    "`examples/react-native` type-checks, has every name, and counts in Node.js",
  ],
  "firebase-functions": [
    "7.4.0",
    "the template of `firebase functions:kits:install` compiles and exports the functions",
  ],
} as const satisfies Record<string, readonly [version: string, test: string]>;

/** What the tests of the tools need besides. */
export const companions = {
  "@angular/compiler": tools["@angular/core"][0],
  "@sveltejs/vite-plugin-svelte": "7.3.1",
  "@vitejs/plugin-vue": "6.0.11",
  esbuild: "0.28.2",
  rxjs: "7.8.2",
  // What Angular and the kit's template ask for.
  typescript: "6.0.3",
  "webpack-cli": "7.3.1",
} as const;

/** The tables, with `✓` in each cell that has passed. */
export function compatibilityTables(hasPassed: (cell: string) => boolean): string {
  const mark = (...cells: string[]) => (cells.every(hasPassed) ? "✓" : "✗");
  const columns = [...Object.keys(formats), ...Object.keys(modules).map((module) => `\`${module}\``)];
  const rows = peers.map((app) => [
    ...Object.values(app),
    ...Object.keys(formats).map((format) => mark(...programs.map((program) => cells.run(app, format, program)))),
    ...Object.keys(modules).map((module) => mark(cells.types(app, module))),
  ]);
  return [
    markdownTable([["firebase", "firebase-admin", "React", "TypeScript", ...columns], ...rows]),
    markdownTable([
      ["Tool", "Version", "Passes", "Test"],
      ...Object.entries(tools).map(([tool, [version, text]]) => [`\`${tool}\``, version, mark(tool), text]),
    ]),
  ].join("\n\n");
}

/** The names of the tests. */
export const cells = {
  run: (app: Peers, format: string, program: string) => `firebase ${app.firebase}, ${format}: ${program}`,
  types: (app: Peers, module: string) => `TypeScript ${app.typescript}, module ${module}`,
};
