/** Runs before each test file: gives it the project of its worker (hosts.ts), where no other file runs at the same time. */
import { dirname } from "node:path";
import { logOfHost, projectOfHost } from "./hosts.ts";

const { TALLY_PACKAGING, TALLY_LOG = "", VITEST_POOL_ID } = process.env;
if (TALLY_PACKAGING === "hosted") {
  const project = projectOfHost(Number(VITEST_POOL_ID));
  process.env.GCLOUD_PROJECT = project;
  process.env.TALLY_LOG = logOfHost(dirname(TALLY_LOG), project);
}
