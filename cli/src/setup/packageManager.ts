/** The app's package manager, and its commands. They run in the folder of the project. */
import type { Project } from "./project.ts";

const MANAGERS = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" } as const;

/** The option of each package manager for the folder of the app. */
const FOLDER_OPTION = { npm: "--prefix", pnpm: "--dir", yarn: "--cwd", bun: "--cwd" } as const;

type Apps = Pick<Project, "app" | "has">;

function managerOf({ app, has }: Apps): keyof typeof FOLDER_OPTION {
  const [, manager = "npm"] = Object.entries(MANAGERS).find(([file]) => app.has(file) || has(file)) ?? [];
  return manager;
}

function command(project: Apps, verb: string): string {
  const manager = managerOf(project);
  const { folder } = project.app;
  return folder === "" ? `${manager} ${verb}` : `${manager} ${FOLDER_OPTION[manager]} ${folder} ${verb}`;
}

/** Installs the app's packages. */
export function installCommand(project: Apps): string {
  return command(project, "install");
}

/** Adds packages to the app. */
export function addCommand(project: Apps, packages: readonly string[]): string {
  return command(project, `${managerOf(project) === "npm" ? "install" : "add"} ${packages.join(" ")}`);
}
