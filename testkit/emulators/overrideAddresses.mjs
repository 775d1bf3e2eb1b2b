// Loaded into firebase-tools and into its workers. The functions' workers find Firestore and Cloud Tasks at the addresses of proxies, and
// the Firestore emulator, which takes the address of the functions from its command line, sends its events elsewhere.
import childProcess from "node:child_process";

const { env } = process;
if (env.FUNCTION_TARGET) {
  const firestore = env.TALLY_WORKERS_FIRESTORE ?? env.FIRESTORE_EMULATOR_HOST;
  env.FIRESTORE_EMULATOR_HOST = firestore.startsWith("{") ? JSON.parse(firestore)[env.DATABASE_ID] : firestore;
  env.CLOUD_TASKS_EMULATOR_HOST = env.TALLY_WORKERS_TASKS ?? env.CLOUD_TASKS_EMULATOR_HOST;
} else if (env.TALLY_EVENTS_TO) {
  const { spawn } = childProcess;
  childProcess.spawn = (program, args, ...options) =>
    spawn(program, args?.some((one) => one.includes("cloud_firestore")) ? withEventTarget(args) : args, ...options);
}

function withEventTarget(args) {
  const others = args.filter((one, at) => ![one, args[at - 1]].includes("--functions_emulator"));
  return [...others, "--functions_emulator", env.TALLY_EVENTS_TO];
}
