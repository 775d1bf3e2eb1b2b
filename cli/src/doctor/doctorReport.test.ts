import { afterEach, expect, test, vi } from "vitest";
import { healthyFacts } from "../../testing/healthyFacts.ts";
import { printReport } from "./doctorReport.ts";
import { errorFinding } from "./finding.ts";

afterEach(() => void vi.restoreAllMocks());

const DIM = "\u001b[2m";

test("a remedy is as bright as its problem, and whole; a long id in a problem is not", () => {
  let printed = "";
  const write = (text: string) => {
    printed += text;
    return true;
  };
  const terminal = { isTTY: true, columns: 50, hasColors: () => true, write };
  vi.spyOn(process, "stdout", "get").mockReturnValue(terminal as unknown as typeof process.stdout);
  const command = `\`npx firestore-tally publish likes:${"b".repeat(40)}\``;
  printReport(
    healthyFacts(),
    [
      errorFinding("counter-stuck", `likes:${"a".repeat(1_490)}zz has writes that are not published`, `run ${command}`),
      errorFinding("counter-hand-made", "it was not adopted", "read https://example.com/a.md"),
    ],
    [],
  );
  expect(printed).toMatch(/\n {2}likes:a+…a+zz\n {2}has writes that are not published\.\n {2}→ run\n/);
  expect(printed).toContain(`\n  ${command}.\n`);
  // A full stop would be taken for a part of the address.
  expect(printed).toContain("\n  → read https://example.com/a.md\n");
  expect(printed.slice(printed.indexOf("counter-stuck"), printed.indexOf("→ read"))).not.toContain(DIM);
});
