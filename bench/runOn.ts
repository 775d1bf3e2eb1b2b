/** Runs a part of the benchmark on a suite that is started for it. The emulators never outlive the benchmark. */

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interruption.abort());

interface Running {
  stop(): Promise<void>;
}

/** @param start  of the suite, and what stands in front of it */
export async function runOn<On extends Running, Result>(
  start: (signal: AbortSignal) => Promise<On>,
  use: (on: On) => Promise<Result>,
): Promise<Result> {
  process.stderr.write("Starting the emulators… ");
  const on = await start(interruption.signal);
  process.stderr.write("ready.\n");
  const interrupt = async () => {
    console.error("\nInterrupted.");
    await on.stop();
    process.exit(130);
  };
  interruption.signal.addEventListener("abort", interrupt, { once: true });
  try {
    return await use(on);
  } finally {
    interruption.signal.removeEventListener("abort", interrupt);
    await on.stop();
  }
}
