// Loaded into the functions' worker processes: makes them see Firestore at the address of a proxy.
if (process.env.FUNCTION_TARGET && process.env.TALLY_FUNCTIONS_FIRESTORE) {
  process.env.FIRESTORE_EMULATOR_HOST = process.env.TALLY_FUNCTIONS_FIRESTORE;
}
