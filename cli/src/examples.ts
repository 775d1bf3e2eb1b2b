/** The end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  npx firestore-tally ${line}`).join("\n")}`;
}
