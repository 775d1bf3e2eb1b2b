/**
 * The estimate of unique visitors beside Redis's `PFCOUNT`, on the same ids. It needs `redis-server` and `redis-cli`.
 *
 *     npm run bench:visitors
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Sketch } from "../core/src/index.ts";
import { table } from "./markdown.ts";

const SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
/** Runs of each size, with other ids. */
const RUNS = 20;

const folder = mkdtempSync(join(tmpdir(), "tally-redis-"));
const socket = join(folder, "socket");
const server = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder], {
  stdio: "ignore",
});
const redis = (args: readonly string[], input?: string) =>
  execFileSync("redis-cli", ["-s", socket, ...args], { input, encoding: "utf8", maxBuffer: 1e9 }).trim();

/** Root mean square and mean of relative errors, in percent. */
function errorOf(estimates: readonly number[], truth: number): string {
  const errors = estimates.map((estimate) => estimate / truth - 1);
  const square = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
  return `${(100 * square).toFixed(2)} %`;
}

try {
  for (let tries = 0; tries < 50; tries++) {
    await sleep(100);
    try {
      if (redis(["ping"]) === "PONG") break;
    } catch {
      // It is not listening yet.
    }
  }
  const rows = SIZES.map((size) => {
    const [tally, others]: [number[], number[]] = [[], []];
    for (let run = 0; run < RUNS; run++) {
      const ids = Array.from({ length: size }, (_, i) => `visitor-${run}-${i}`);
      const sketch = new Sketch();
      for (const id of ids) sketch.add(createHash("sha256").update(id).digest("hex").slice(0, 16));
      redis(["flushall"]);
      redis(["--pipe"], ids.map((id) => `PFADD visitors ${id}\r\n`).join(""));
      tally.push(Math.round(sketch.estimate()));
      others.push(Number(redis(["pfcount", "visitors"])));
    }
    return [size.toLocaleString("en"), errorOf(tally, size), errorOf(others, size)];
  });
  const version = /v=([\d.]+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1];
  console.log(table(["visitors", "Tally", `Redis ${version}`], 0, rows));
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
