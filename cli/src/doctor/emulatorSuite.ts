/**
 * Finds the Emulator Suite of a Firestore emulator: the hub that lists the emulator's port. The suite sets FIREBASE_EMULATOR_HUB for
 * `emulators:exec`, and leaves a file for other processes, which is named after its project (`lib/emulator/hub.js` of firebase-tools). All
 * such files are read, because the project that a command names may be mistyped.
 */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabaseTarget, readText } from "../databaseTarget.ts";
import { emulatorAddress, nearestFirebaseJson } from "../nearestFirebaseJson.ts";
import type { EmulatorSuite } from "./facts.ts";

interface Hub {
  readonly address: string;
  /** The project that its file names. */
  readonly project: string | null;
}

const DEFAULT_HUB_PORT = 4400;

export async function findSuite({ emulator, project }: DatabaseTarget): Promise<EmulatorSuite> {
  const hubs = knownHubs(project);
  const port = Number(emulator?.split(":").at(-1));
  type Address = { readonly host: string; readonly port: number };
  const answers = await Promise.all(
    hubs.map(async (hub) => {
      const url = `http://${hub.address}/emulators`;
      return { hub, emulators: await ask<Record<string, Address>>(url).catch(() => undefined) };
    }),
  );
  const found = answers.find(({ emulators }) => emulators?.firestore?.port === port);
  const functions = found?.emulators?.functions;
  return {
    asked: [...new Set(hubs.map(({ address }) => address))],
    hub: found?.hub.address ?? null,
    project: hubs.find((hub) => hub.project !== null && hub.address === found?.hub.address)?.project ?? null,
    functions: functions ? `${functions.host}:${functions.port}` : null,
  };
}

export async function ask<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return (await response.json()) as Answer;
}

/** The hub of the environment alone, if that names one; else those of the files, that of the project first, and of `firebase.json`. */
function knownHubs(project: string): Hub[] {
  const files = readdirSync(tmpdir()).flatMap((file) => readHub(file) ?? []);
  const { FIREBASE_EMULATOR_HUB } = process.env;
  if (FIREBASE_EMULATOR_HUB) {
    const known = files.find(({ address }) => address === FIREBASE_EMULATOR_HUB);
    return [known ?? { address: FIREBASE_EMULATOR_HUB, project: null }];
  }
  const own = files.toSorted((a, b) => Number(b.project === project) - Number(a.project === project));
  return [...own, { address: hubOfFirebaseJson(), project: null }];
}

function readHub(file: string): Hub | undefined {
  const [, project] = /^hub-(.+)\.json$/.exec(file) ?? [];
  if (project === undefined) return undefined;
  try {
    const { origins } = JSON.parse(readText(join(tmpdir(), file))) as { origins: string[] };
    return { address: new URL(origins[0] ?? "").host, project };
  } catch {
    return undefined;
  }
}

function hubOfFirebaseJson(): string {
  try {
    return emulatorAddress(nearestFirebaseJson(readText), "hub", DEFAULT_HUB_PORT);
  } catch {
    return emulatorAddress(undefined, "hub", DEFAULT_HUB_PORT);
  }
}
