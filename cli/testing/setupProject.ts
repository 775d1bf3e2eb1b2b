/** A project of an app in a folder of its own, and `init`, `upgrade` and `remove` on it, without a terminal. */
import * as node from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished } from "vitest";
import type { FileOperations } from "../src/setup/atomicWrites.ts";
import type { Plan } from "../src/setup/carryOut.ts";
import { makeChanges, realChanges } from "../src/setup/changes.ts";
import { type InitOptions, prepareInit } from "../src/setup/init.ts";
import { readProject } from "../src/setup/project.ts";
import { planRemove } from "../src/setup/remove.ts";
import { planUpgrade, type UpgradeOptions } from "../src/setup/upgrade.ts";

export type Files = Readonly<Record<string, string>>;

export const APP: Files = {
  "firebase.json": '{\n  "firestore": { "rules": "db/rules", "indexes": "db/indexes.json" }\n}\n',
  "db/rules":
    "rules_version = '2';\nservice cloud.firestore {\n  match /databases/{db}/documents {\n    match /posts/{post} {\n      allow read;\n    }\n  }\n}\n",
  "package.json": '{ "name": "app", "dependencies": { "firebase": "^12.0.0" } }\n',
  ".gitignore": "node_modules/\n.env\n",
};

/** What a command would do, or has done. */
export interface Outcome extends Pick<Plan, "clientChanges" | "nextCommand" | "notes"> {
  /** The files that changed. */
  readonly paths: readonly string[];
}

/** @param below  the folder where the commands run */
export function createProject(files: Files = APP, below = "") {
  const folder = node.mkdtempSync(join(tmpdir(), "tally-setup-"));
  onTestFinished(() => node.rmSync(folder, { recursive: true }));
  const at = (path: string) => join(folder, path);
  const write = (path: string, text: string) => {
    node.mkdirSync(dirname(at(path)), { recursive: true });
    node.writeFileSync(at(path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  node.mkdirSync(at(below), { recursive: true });
  const make = (root: string, plan: Plan, operations: FileOperations = node): Outcome => {
    makeChanges(root, plan.changes, operations);
    return {
      ...plan,
      paths: realChanges(plan.changes)
        .map(({ path }) => path)
        .toSorted(),
    };
  };
  const project = (database?: string) => readProject(at(below), database);
  return {
    at,
    write,
    /** Another project with the same files. */
    copy() {
      const other = createProject({}, below);
      node.cpSync(folder, other.at(""), { recursive: true });
      return other;
    },
    async init(options: InitOptions = {}, operations?: FileOperations) {
      const prepared = await prepareInit(at(below), options, false);
      return make(prepared.folder, prepared.plan, operations);
    },
    async upgrade({ database, packages }: UpgradeOptions = {}, operations?: FileOperations) {
      return make(project(database).folder, planUpgrade(project(database), packages), operations);
    },
    async remove(database?: string, operations?: FileOperations) {
      return make(project(database).folder, planRemove(project(database)), operations);
    },
    read: (path: string) => node.readFileSync(at(path), "utf8"),
    edit(path: string, from: string | RegExp, to: string) {
      const text = node.readFileSync(at(path), "utf8");
      if (text.replace(from, to) === text) throw new Error(`${path} has no ${from}`);
      node.writeFileSync(at(path), text.replace(from, to));
    },
    /** All files, temporary ones included, and empty folders. */
    files(): Record<string, string> {
      const entries = node.readdirSync(folder, { recursive: true, withFileTypes: true });
      const found = entries.flatMap((entry) => {
        const path = join(entry.parentPath, entry.name);
        if (entry.isFile()) return [[path.slice(folder.length + 1), node.readFileSync(path, "latin1")]];
        const isEmpty = entry.isDirectory() && node.readdirSync(path).length === 0;
        return isEmpty ? [[`${path.slice(folder.length + 1)}/`, ""]] : [];
      });
      return Object.fromEntries(found.toSorted());
    },
  };
}

/** A folder with both tarballs. */
export function createTarballs() {
  const { at } = createProject({});
  for (const name of ["firestore-tally", "firestore-tally-kit"])
    node.writeFileSync(at(`${name}-0.1.0.tgz`), gzipSync(`the package ${name}`));
  return { packages: at("") };
}

export const json = (text: string) => JSON.parse(text);

/** For `toEqual`: texts that include these parts. */
export const including = (...parts: string[]) => parts.map((part) => expect.stringContaining(part));
