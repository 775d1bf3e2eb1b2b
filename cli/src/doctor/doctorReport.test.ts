import { afterEach, expect, test, vi } from "vitest";
import { healthyFacts } from "../../testing/healthyFacts.ts";
import { printReport } from "./doctorReport.ts";
import { errorFinding } from "./finding.ts";

afterEach(() => void vi.restoreAllMocks());

const DIM = "\u001b[2m";

const command = `\`npx firestore-tally publish likes:${"b".repeat(40)}\``;

/** What a terminal of 50 columns with colours shows. */
function printed(): string {
  let text = "";
  const write = (part: string) => {
    text += part;
    return true;
  };
  const terminal = { isTTY: true, columns: 50, hasColors: () => true, write };
  vi.spyOn(process, "stdout", "get").mockReturnValue(terminal as unknown as typeof process.stdout);
  printReport(
    healthyFacts(),
    [
      errorFinding("counter-stuck", `likes:${"a".repeat(1_490)}zz has writes that are not published`, `run ${command}`),
      errorFinding("counter-hand-made", "it was not adopted", "read https://example.com/a.md"),
    ],
    [],
  );
  return text;
}

test("problems and remedies are not dimmed", () => {
  const text = printed();
  expect(text.slice(text.indexOf("counter-stuck"), text.indexOf(`${DIM}Looked at:`))).not.toContain(DIM);
});

test("a command is not cut", () => {
  expect(printed()).toContain(`\n  → run\n  ${command}.\n`);
});

test("a long id is shortened", () => {
  expect(printed()).toMatch(/\n {2}likes:a+…a+zz\n {2}has writes that are not published\.\n/);
});

test("a link ends without a full stop, which would be taken for a part of the address", () => {
  expect(printed()).toContain("\n  → read https://example.com/a.md\n");
});
