/** Builds what is shipped: the client package and the functions, each with core bundled in. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const shared = { bundle: true, format: "esm", sourcemap: true, logLevel: "warning" } as const;

rmSync("client/dist", { recursive: true, force: true });
await Promise.all([
  build({
    ...shared,
    entryPoints: ["client/src/index.ts"],
    outfile: "client/dist/index.js",
    external: ["firebase/*"],
    target: "es2022",
  }),
  build({
    ...shared,
    entryPoints: ["functions/src/index.ts"],
    outfile: "functions/lib/index.js",
    external: ["firebase-admin/*", "firebase-functions", "firebase-functions/*"],
    platform: "node",
    target: "node22",
  }),
]);
execFileSync("tsc", ["-p", "client/tsconfig.json"], { stdio: "inherit" });
