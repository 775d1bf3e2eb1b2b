/** The conformance kit says plainly which planners ran, and fails if one is wrong or a required one is missing. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "tally-kit-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the kit where no compiler is but what the test puts there. */
function runKit(...args: string[]): { status: number | null; lines: string[] } {
  const env = { PATH: folder, HOME: folder, TMPDIR: tmpdir() };
  const { status, stdout } = spawnSync(process.execPath, ["mobile/conformance/run.ts", ...args], {
    env,
    encoding: "utf8",
  });
  return { status, lines: stdout.trimEnd().split("\n") };
}

/** A compiler that writes its last argument's program: one that answers each question with a word. */
function installSwift(answer: string): void {
  const compiler = join(folder, "swiftc");
  const program = `#!/bin/sh\nwhile read -r question; do echo ${answer}; done\n`;
  writeFileSync(
    compiler,
    `#!/bin/sh\nfor output; do :; done\nprintf '%s' '${program}' > "$output"\n/bin/chmod +x "$output"\n`,
  );
  chmodSync(compiler, 0o755);
}

test("without compilers every planner is skipped, which is no failure unless it is required", () => {
  const { status, lines } = runKit();
  expect(lines.map((line) => line.split(",")[0])).toEqual(["kotlin: SKIPPED", "swift: SKIPPED", "dart: SKIPPED"]);
  expect(status).toBe(0);
  expect(runKit("--must-run", "dart,swift").status).toBe(1);
});

test("a planner that answers wrongly fails, with each question", () => {
  installSwift("true");
  const { status, lines } = runKit();
  expect(status).toBe(1);
  expect(lines.find((line) => line.startsWith("swift: FAILED"))).toMatch(/\d{3} of \d{3} answers are wrong/);
  expect(lines.join("\n")).toContain("asked    plan\tincrement\tcounters/views:home");
});

test("a planner that does not compile fails, and the others still run", () => {
  const compiler = join(folder, "swiftc");
  writeFileSync(compiler, "#!/bin/sh\necho 'error: no such type' >&2\nexit 1\n");
  const { status, lines } = runKit();
  expect(status).toBe(1);
  expect(lines.join("\n")).toContain("swift: FAILED, it does not compile or does not run.");
  expect(lines.join("\n")).toContain("error: no such type");
  expect(lines.at(-1)).toMatch(/^dart: SKIPPED/);
});
