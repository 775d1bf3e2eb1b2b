// Loaded into the functions' worker processes, which then find Firestore and Cloud Tasks at the addresses of proxies.
const { env } = process;
if (env.FUNCTION_TARGET) {
  const firestore = env.TALLY_WORKERS_FIRESTORE ?? env.FIRESTORE_EMULATOR_HOST;
  env.FIRESTORE_EMULATOR_HOST = firestore.startsWith("{") ? JSON.parse(firestore)[env.DATABASE_ID] : firestore;
  env.CLOUD_TASKS_EMULATOR_HOST = env.TALLY_WORKERS_TASKS ?? env.CLOUD_TASKS_EMULATOR_HOST;
}
