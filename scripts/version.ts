/** Sets the next version, chosen by the notes in .changeset: of both packages, and of the extension, which is released with them. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "inherit" });

run("npx", "changeset", "version");
const { version } = JSON.parse(readFileSync("client/package.json", "utf8"));
const manifest = readFileSync("extension.yaml", "utf8");
writeFileSync("extension.yaml", manifest.replace(/^version: .*$/m, `version: ${version}`));
run("npm", "install", "--package-lock-only");
run("node", "scripts/shrinkwrap.ts");
