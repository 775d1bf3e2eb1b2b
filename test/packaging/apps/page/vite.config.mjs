import { defineConfig } from "vite";

const { GCLOUD_PROJECT, EMULATOR_PORT } = process.env;

export default defineConfig({ define: { PROJECT: JSON.stringify(GCLOUD_PROJECT), EMULATOR_PORT } });
