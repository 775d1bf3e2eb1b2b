/**
 * Slow motion: every process of the benchmark runs on a clock that is slower than the machine's. On a clock ten times slower, a
 * machine of two cores carries a load that would need twenty. Rates and times are those of the slow clock, so the result shows
 * the algorithm under that load, not the machine. libfaketime (https://github.com/wolfcw/libfaketime) slows the clock.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/faketime/libfaketime.so.1",
];

/** Whether this process runs on a slow clock. */
export function isSlow(): boolean {
  return process.env.FAKETIME !== undefined;
}

/** Runs this program again on a slow clock, and exits with it. */
export function runSlowly(factor: number): never {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (!library) {
    console.error("--slow needs libfaketime. On Debian: apt install faketime");
    process.exit(1);
  }
  const env = { ...process.env, LD_PRELOAD: library, FAKETIME: `+0 x${1 / factor}` };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { stdio: "inherit", env });
  process.exit(status ?? 1);
}
