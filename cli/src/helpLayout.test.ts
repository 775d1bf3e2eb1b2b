import { Command } from "commander";
import stringWidth from "string-width";
import { afterEach, expect, test, vi } from "vitest";
import { defineProgram } from "./program.ts";

afterEach(() => void vi.restoreAllMocks());

test.each([40, 60, 80, 120])("help fits a terminal of %i columns, and cuts no word", (columns) => {
  const program = defineProgram(new Command());
  const helpAt = (width: number) => {
    vi.spyOn(process, "stdout", "get").mockReturnValue({ isTTY: true, columns: width } as typeof process.stdout);
    return program.commands.map((command) => command.helpInformation());
  };
  const words = (help: string[]) => help.join("\n").split(/\s+/);
  const help = helpAt(columns);
  expect(words(help)).toEqual(words(helpAt(100)));
  for (const line of help.join("\n").split("\n")) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
});
