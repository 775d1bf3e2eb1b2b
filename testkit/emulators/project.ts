/**
 * Creates a Firebase project in a temporary folder, with free ports. The functions of this repository are its codebase or its
 * extension, or are installed from their package as a kit.
 */

import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { OPEN_RULES } from "../rules.ts";
import { type InstalledKit, installKit } from "./kit/install.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** The Eventarc channel of the functions. */
const EVENTARC_CHANNEL = "locations/us-central1/channels/firebase";

const EXTENSION_INSTANCE = "tally";

/**
 * How the functions are loaded: as a plain codebase, through extension.yaml, as a function kit, or twice; `hosted`: as a plain
 * codebase, by hostedFunctions.ts instead of the Functions emulator.
 */
export const PACKAGINGS = ["plain", "hosted", "extension", "kit", "extension+kit"] as const;
export type Packaging = (typeof PACKAGINGS)[number];

export interface Project {
  readonly folder: string;
  /** Where each emulator is to listen, `host:port` by name. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly kit?: InstalledKit | undefined;
  remove(): void;
}

/**
 * Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere), which could take it before the emulator does; at
 * random, so that emulators that start together choose different ones.
 */
export function freePort(): Promise<number> {
  return getPort({ port: Array.from({ length: 20 }, () => randomInt(20_000, 32_768)) });
}

export interface ProjectOptions {
  /** Parameters of an extension, from which the kit is migrated. */
  readonly exported?: Record<string, string>;
  /** Several plain codebases instead of one: the prefix of the names of their functions → their further parameters. */
  readonly codebases?: Readonly<Record<string, Record<string, string>>> | undefined;
}

/** @param params  parameters of the functions that differ from their defaults, by name */
export async function createProject(
  packaging: Packaging,
  params: Record<string, string>,
  { exported, codebases }: ProjectOptions = {},
): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "tally-emulators-"));
  const config = JSON.parse(readFileSync(join(repository, "firebase.json"), "utf8"));
  const addresses: Record<string, string> = {};
  for (const name of ["auth", "eventarc", "firestore", "functions", "hosting", "pubsub", "tasks", "hub", "logging"]) {
    const port = await freePort();
    addresses[name] = `127.0.0.1:${port}`;
    config.emulators[name] = { ...config.emulators[name], host: "127.0.0.1", port };
  }
  // Tests with rules of their own use other projects, and each request to these would log a warning.
  config.emulators.singleProjectMode = false;
  config.emulators.firestore.websocketPort = await freePort();
  // The emulator of Firestore 1.19.9 ignores it, though firebase-tools says that it was started in this edition.
  if (params.EDITION) config.firestore.edition = config.emulators.firestore.edition = params.EDITION;
  allowPageToReach(config, [
    addresses.auth,
    addresses.firestore,
    addresses.firestore?.replace("127.0.0.1", "localhost"),
  ]);

  for (const name of ["functions", "node_modules", "web", config.firestore.indexes]) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  writeFileSync(join(folder, config.firestore.rules), OPEN_RULES);
  const [codebase] = config.functions;
  const linesOf = (values: Record<string, string>) =>
    Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  const env = linesOf({ EVENTARC_CHANNEL, ...params });
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  const save = () => write("firebase.json", JSON.stringify(config, null, 2));
  delete config.functions;
  if (packaging === "plain" && codebases) {
    config.functions = Object.keys(codebases).map((prefix) => ({
      ...codebase,
      codebase: prefix,
      prefix,
      configDir: prefix,
    }));
    for (const [prefix, more] of Object.entries(codebases))
      write(`${prefix}/.env`, [...env, ...linesOf(more)].join(""));
  } else if (packaging === "plain") {
    config.functions = [{ ...codebase, configDir: "params" }];
    write("params/.env", env.join(""));
  }
  if (packaging.startsWith("extension")) {
    config.extensions = { [EXTENSION_INSTANCE]: repository };
    const locations = ["LOCATION=us-central1\n", "DATABASE_REGION=us-central1\n"];
    write(`extensions/${EXTENSION_INSTANCE}.env`, [...locations, ...env].join(""));
  }
  save();
  const kit = packaging.endsWith("kit") ? await installKit(folder, exported) : undefined;
  // It precedes the file of the answers.
  if (kit) writeFileSync(join(kit.configFolder, ".env.local"), env.join(""));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return { folder, addresses, kit, remove };
}

/** Adds the emulators to the page's content security policy, which names Google's servers alone. */
function allowPageToReach(config: { hosting: object }, addresses: readonly (string | undefined)[]): void {
  const origins = addresses.map((address) => `http://${address}`).join(" ");
  config.hosting = JSON.parse(
    JSON.stringify(config.hosting).replace("connect-src 'self'", `connect-src 'self' ${origins}`),
  );
}
