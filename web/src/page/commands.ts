/** The commands that tell an operator more than the page does, as they can be pasted into a shell. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** `npx firestore-tally inspect likes:post42 --project shop` */
export function commandFor({ options, firestore }: FirebaseSetup, command: string, id?: string): string {
  const flags = [
    `--project ${options.projectId}`,
    ...(firestore ? [`--emulator ${firestore.host}:${firestore.port}`] : []),
  ];
  const start = `npx firestore-tally ${command}`;
  if (id === undefined) return [start, ...flags].join(" ");
  // Without --, it would be an option.
  return (id.startsWith("-") ? [start, ...flags, "--", quoted(id)] : [start, quoted(id), ...flags]).join(" ");
}

/** For POSIX shells. */
function quoted(text: string): string {
  return /^[\w:.@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
