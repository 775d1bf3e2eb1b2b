/**
 * Finds what the Emulator Suite needs and does not contain: a JDK, and the Firestore and Pub/Sub emulators where firebase-tools
 * cannot download them. Order: the user's own variable, the Google Cloud CLI's copy, firebase-tools'
 * download.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { strToU8, zipSync } from "fflate";

/** The oldest Java that firebase-tools 15 accepts. */
const MIN_JAVA = 21;

/** Disables the optimizing compiler, which on two cores takes the time that starting emulators need. */
const FAST_START = "-XX:TieredStopAtLevel=1";

/**
 * How long a process of the functions may take to load them. firebase-tools gives it 30 s, and 10 s to say which functions there are.
 * When many start at once on a slow machine, all take longer, and are started again and again.
 */
const LOAD_TIMEOUT_SECONDS = "120";

/** The user must install something. The message says what and how. */
export class MissingRequirement extends Error {}

/**
 * The environment to start firebase-tools with.
 *
 * @param scratch  a folder for temporary files
 * @throws MissingRequirement
 */
export function emulatorEnvironment(scratch: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    JAVA_TOOL_OPTIONS: FAST_START,
    FUNCTIONS_DISCOVERY_TIMEOUT: LOAD_TIMEOUT_SECONDS,
    ...process.env,
    ...javaEnvironment(),
  };
  const cli = cloudSdkPlatform();
  const firestoreJar = cli && join(cli, "cloud-firestore-emulator", "cloud-firestore-emulator.jar");
  if (!env.FIRESTORE_EMULATOR_BINARY_PATH && firestoreJar && existsSync(firestoreJar)) {
    env.FIRESTORE_EMULATOR_BINARY_PATH = runnableJar(firestoreJar, scratch);
  }
  const pubsub = cli && join(cli, "pubsub-emulator", "bin", "cloud-pubsub-emulator");
  if (!env.PUBSUB_EMULATOR_BINARY_PATH && pubsub && existsSync(pubsub)) env.PUBSUB_EMULATOR_BINARY_PATH = pubsub;
  return env;
}

/** Why the emulators did not start and what to do, from the output of firebase-tools; `undefined` if unknown. */
export function explainFailure(log: string): string | undefined {
  if (!/download failed|failed to make request|ENOTFOUND|EAI_AGAIN|getaddrinfo/i.test(log)) return undefined;
  return [
    "An emulator is missing and could not be downloaded. Either connect to the internet once, or install the Google",
    "Cloud CLI and run: gcloud components install cloud-firestore-emulator pubsub-emulator",
    "(FIRESTORE_EMULATOR_BINARY_PATH and PUBSUB_EMULATOR_BINARY_PATH may name copies of your own.)",
  ].join("\n");
}

function javaEnvironment(): NodeJS.ProcessEnv {
  const { JAVA_HOME, PATH = "" } = process.env;
  const own = JAVA_HOME ? [join(JAVA_HOME, "bin")] : [];
  return { PATH: [findJava([...own, ...PATH.split(delimiter), ...platformJavaFolders()]), PATH].join(delimiter) };
}

/**
 * The first of some folders that holds a Java new enough.
 *
 * @throws MissingRequirement if none does
 */
export function findJava(folders: Iterable<string>): string {
  const found: string[] = [];
  for (const bin of new Set(folders)) {
    const version = javaVersion(bin);
    if (version === undefined) continue;
    if (version >= MIN_JAVA) return bin;
    found.push(`Java ${version} in ${bin}`);
  }
  throw new MissingRequirement(
    [
      `The Firebase emulators need Java ${MIN_JAVA} or newer; ${found.length > 0 ? `found only ${found.join(", ")}` : "none was found"}.`,
      "Install one, for example:",
      "  macOS:          brew install openjdk@21",
      "  Debian, Ubuntu: sudo apt-get install openjdk-21-jre-headless",
      "  Windows:        winget install EclipseAdoptium.Temurin.21.JRE",
      "or set JAVA_HOME to the folder of one that is installed already.",
    ].join("\n"),
  );
}

/** Where platforms keep the JDKs that are not on the PATH. */
function platformJavaFolders(): string[] {
  const roots = ["/usr/lib/jvm", "/Library/Java/JavaVirtualMachines", "C:\\Program Files\\Eclipse Adoptium"];
  return roots
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((jdk) => join(root, jdk)))
    .flatMap((jdk) => [join(jdk, "bin"), join(jdk, "Contents", "Home", "bin")]);
}

function javaVersion(bin: string): number | undefined {
  const java = join(bin, process.platform === "win32" ? "java.exe" : "java");
  if (!existsSync(java)) return undefined;
  const { stdout, stderr } = spawnSync(java, ["-version"], { encoding: "utf8" });
  const version = /version "(\d+)/.exec(`${stdout}${stderr}`);
  return version ? Number(version[1]) : undefined;
}

/** The `platform` folder of the Google Cloud CLI, if that is installed. */
function cloudSdkPlatform(): string | undefined {
  try {
    const root = execFileSync("gcloud", ["info", "--format=value(installation.sdk_root)"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return join(root.trim(), "platform");
  } catch {
    return undefined;
  }
}

/** A jar that wraps the CLI's emulator jar, which names no main class and so cannot be run by `java -jar`. */
function runnableJar(jar: string, scratch: string): string {
  const manifest = [
    "Manifest-Version: 1.0",
    "Main-Class: com.google.cloud.datastore.emulator.firestore.CloudFirestore",
    `Class-Path: ${pathToFileURL(jar).href}`,
  ];
  // A line of a manifest has at most 72 bytes; it continues after a space.
  const lines = manifest.map((line) => line.replace(/.{70}(?=.)/g, "$&\r\n "));
  const path = join(scratch, "firestore-emulator.jar");
  writeFileSync(path, zipSync({ "META-INF/MANIFEST.MF": strToU8(`${lines.join("\r\n")}\r\n\r\n`) }));
  return path;
}
