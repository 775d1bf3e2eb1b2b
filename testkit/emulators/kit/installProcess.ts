/**
 * What `firebase functions:kits:install` and `firebase ext:migrate` do with a package after the login, in firebase-tools' own code:
 * questions, template, installation, build, parameters and firebase.json. A process of its own, because the questions are answered
 * in that code's place. The working directory is the Firebase project; the first argument is an `InstallOrder`.
 */
import { createRequire } from "node:module";
import type { InstallOrder, Question } from "./install.ts";

const require = createRequire(import.meta.url);
const { Config } = require("firebase-tools/lib/config.js");
const { installKitOrInstance } = require("firebase-tools/lib/functions/kits/install.js");
const { useConsoleLoggers: printLog } = require("firebase-tools/lib/logger.js");
const prompt = require("firebase-tools/lib/prompt.js");
const { RC } = require("firebase-tools/lib/rc.js");

const { packageName, projectId, template, instanceId, exported, answers }: InstallOrder = JSON.parse(
  process.argv[2] as string,
);
const questions: Question[] = [];

prompt.input = async ({ message, default: byDefault }: Question) => {
  questions.push({ message, default: byDefault });
  const [, answer] = Object.entries(answers).find(([about]) => message.includes(about)) ?? [];
  const given = answer ?? byDefault;
  if (given === undefined) throw new Error(`no answer to: ${message}`);
  return given;
};
prompt.confirm = async ({ message, default: byDefault }: Question) => {
  questions.push({ message, default: byDefault });
  return true;
};

printLog();
const config = Config.load({ cwd: process.cwd() });
await installKitOrInstance({
  config,
  package: packageName,
  template,
  project: projectId,
  projectId,
  rc: new RC(),
  defaultInstanceId: instanceId,
  ...(exported && { seedEnv: { projectId, envs: exported } }),
});
process.send?.(questions);
process.disconnect();
