/** Where the files of a project are looked for: `firebase.json`, and `.firebaserc` beside it. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/**
 * The folders in which a project may be, the nearest first: a folder and those above it, up to the repository or the home folder. The
 * Firebase CLI looks further, up to the root; a file outside of the repository belongs to another project.
 */
export function projectFolders(cwd: string): string[] {
  const isOutermost = existsSync(join(cwd, ".git")) || cwd === homedir() || cwd === dirname(cwd);
  return isOutermost ? [cwd] : [cwd, ...projectFolders(dirname(cwd))];
}
