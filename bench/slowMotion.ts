/**
 * Runs the benchmark on a clock that is slower than the machine's, for everyone in it: clients, functions, emulators and
 * governor. So a machine of two cores does in a second of theirs what it takes ten for, and carries a load that would need
 * twenty. Rates and times are those of the slow clock. What is measured is the algorithm under that load, not the machine.
 *
 * libfaketime (https://github.com/wolfcw/libfaketime) does it, which every process inherits.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/faketime/libfaketime.so.1",
];

/** Whether the clock is slow already. */
export function isSlow(): boolean {
  return process.env.FAKETIME !== undefined;
}

/** Runs this program again, so many times slower, and ends with it. */
export function runAgain(factor: number): never {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (!library) {
    console.error("--slow needs libfaketime. On Debian: apt install faketime");
    process.exit(1);
  }
  const env = { ...process.env, LD_PRELOAD: library, FAKETIME: `+0 x${1 / factor}` };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { stdio: "inherit", env });
  process.exit(status ?? 1);
}
