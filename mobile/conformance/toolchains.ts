/**
 * Finds the compilers of this machine, and builds the program of a language: its planner and what answers the questions.
 *
 * Kotlin: `kotlinc` 2 or newer on the path, else the npm package of the compiler, which is fetched once, and a Java. Swift: `swiftc`
 * 6.1 or newer, as Xcode 16.3 brings it. Dart: `dart`, as Flutter brings it.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Language, plannerOf } from "./planner.ts";

/** The compiler as JetBrains publishes it. Fetched on demand, because most contributors do not need its 90 MB. */
const KOTLIN_PACKAGE = "kotlin-compiler@2.4.20";

/** What is missing to build a program, and how to get it. */
export class MissingToolchain extends Error {}

/** A command, to be run with more arguments. */
export type Command = readonly [program: string, ...args: string[]];

/**
 * Builds the program of a language.
 *
 * @param folder an empty folder for it
 * @throws MissingToolchain; Error if the compiler refuses the sources, with what it says
 */
export function build(language: Language, folder: string): Command {
  const planner = join(
    folder,
    language === "kotlin" ? "Tally.kt" : language === "swift" ? "Tally.swift" : "tally.dart",
  );
  writeFileSync(planner, plannerOf(language));
  if (language === "kotlin") {
    const jar = join(folder, "conformance.jar");
    compileKotlin([planner, join(import.meta.dirname, "Conformance.kt")], jar);
    return runKotlin(jar, "ConformanceKt");
  }
  if (language === "swift") {
    const compiler = findSwift();
    if (swiftVersion(compiler, folder) < 601)
      missing("swiftc 6.1 or newer was not found: install Xcode 16.3, or Swift from swift.org");
    // Only a file of this name may have statements outside of functions.
    const main = join(folder, "main.swift");
    copyFileSync(join(import.meta.dirname, "Conformance.swift"), main);
    const program = join(folder, "conformance");
    run([compiler, "-O", planner, main, "-o", program]);
    return [program];
  }
  const dart = find("dart") ?? missing("dart was not found: install Flutter, or Dart from dart.dev");
  const main = join(folder, "conformance.dart");
  copyFileSync(join(import.meta.dirname, "conformance.dart"), main);
  return [dart, "run", main];
}

/**
 * Compiles the whole of Tally.swift in each mode of the language, and runs it, against declarations of ours of the SDK (`swift/`).
 *
 * @param folder an empty folder for what is built
 * @throws MissingToolchain; Error if the client does not compile, or a run fails; the message is what the script says
 */
export function checkSwiftClient(folder: string): void {
  // The first that knows the modes of a new project of Xcode 26.
  const isKnown = swiftVersion(findSwift(), folder) >= 602;
  if (!isKnown) missing("swiftc 6.2 or newer was not found: install Xcode 26, or Swift from swift.org");
  run(["bash", join(import.meta.dirname, "swift", "check.sh"), folder]);
}

function findSwift(): string {
  return find("swiftc") ?? missing("swiftc was not found: install Xcode, or Swift from swift.org");
}

/** 602 for 6.2; not a number if the compiler does not tell. */
function swiftVersion(compiler: string, folder: string): number {
  const { stdout } = spawnSync(compiler, ["--version"], { cwd: folder, encoding: "utf8" });
  const [, major, minor] = /Swift version (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) * 100 + Number(minor);
}

/**
 * Compiles Kotlin sources for the JVM.
 *
 * @param options more of the compiler's, as `-classpath`
 * @throws MissingToolchain; Error if the compiler refuses the sources
 */
export function compileKotlin(sources: string[], output: string, options: string[] = []): void {
  const installed = installedKotlin();
  const compiler: Command = installed
    ? [installed]
    : [
        findJava(),
        "-classpath",
        join(kotlinHome(), "lib", "*"),
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
        "-kotlin-home",
        kotlinHome(),
      ];
  run([...compiler, "-nowarn", "-include-runtime", "-d", output, ...options, ...sources]);
}

/**
 * Compiles Java sources into the classes of a folder.
 *
 * @throws MissingToolchain; Error if the compiler refuses the sources
 */
export function compileJava(sources: string[], folder: string): void {
  run([findJava("javac"), "-nowarn", "-d", folder, ...sources]);
}

/** Runs the class of a jar that {@link compileKotlin} made, with the classes of more folders. */
export function runKotlin(jar: string, main: string, ...folders: string[]): Command {
  return [findJava(), "-classpath", [jar, ...folders].join(delimiter), main];
}

/** Debian's, for one, is of 2019. */
function installedKotlin(): string | undefined {
  const compiler = find("kotlinc");
  const { stdout, stderr } = compiler ? spawnSync(compiler, ["-version"], { encoding: "utf8" }) : {};
  return Number(/kotlinc\S* (\d+)/.exec(`${stdout}${stderr}`)?.[1]) >= 2 ? compiler : undefined;
}

/** The folder of the compiler's npm package. The first call fetches it, and says so. */
function kotlinHome(): string {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "firestore-tally");
  const folder = join(cache, KOTLIN_PACKAGE);
  if (existsSync(folder)) return folder;
  console.log(
    `No kotlinc of version 2 is installed: fetching the npm package ${KOTLIN_PACKAGE} (90 MB) into ${folder}`,
  );
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, "fetching-"));
  try {
    run(["npm", "install", "--prefix", scratch, "--no-save", "--ignore-scripts", "--loglevel=error", KOTLIN_PACKAGE]);
    // In one step: an interrupted download leaves nothing that looks complete.
    if (!existsSync(folder)) renameSync(join(scratch, "node_modules", "kotlin-compiler"), folder);
  } catch (error) {
    return missing(`kotlinc was not found, and ${KOTLIN_PACKAGE} could not be fetched: ${(error as Error).message}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** A program of a JDK. Any `java` runs Kotlin's compiler. */
export function findJava(program: "java" | "javac" | "javap" | "jar" = "java"): string {
  const home = process.env.JAVA_HOME;
  if (home && existsSync(join(home, "bin", program))) return join(home, "bin", program);
  return find(program) ?? missing(`${program} was not found: install a JDK`);
}

function find(program: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => existsSync(folder) && readdirSync(folder).includes(program))
    .map((folder) => join(folder, program))[0];
}

function missing(message: string): never {
  throw new MissingToolchain(message);
}

function run([program, ...args]: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(program as string, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${error ?? ""}\n${stdout ?? ""}${stderr ?? ""}`);
}
