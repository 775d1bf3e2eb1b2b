/** Prints to stderr what is running, how far it is, and how long it took. */
export async function step<Result>(
  what: string,
  run: (progress: (text: string) => void) => Promise<Result>,
): Promise<Result> {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1_000).toFixed(0)} s`;
  const say = (text: string) => process.stderr.write(`${what}: ${text}\n`);
  say("started");
  const ticking = setInterval(() => say(`running for ${seconds()}`), 15_000);
  try {
    const result = await run(say);
    say(`done in ${seconds()}`);
    return result;
  } finally {
    clearInterval(ticking);
  }
}
