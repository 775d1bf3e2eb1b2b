/** The projects of the hosted functions (hostedFunctions.ts), one for each of the tests' workers. */
import { join } from "node:path";
import { PROJECT } from "./firebase.ts";

/** @param index  from 1; the first host has the default project */
export function projectOfHost(index: number): string {
  return index === 1 ? PROJECT : `${PROJECT}-${index}`;
}

/** The file of a host's output, in the folder of the emulators. */
export function logOfHost(folder: string, project: string): string {
  return join(folder, `functions-${project}.log`);
}
