import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandFor } from "./commands.ts";

test("a command names the project, and the emulator if there is one", () => {
  const options = { projectId: "shop" };
  expect(commandFor({ options }, "doctor")).toBe("npx firestore-tally doctor --project shop");
  const firestore = { host: "127.0.0.1", port: 8080 };
  expect(commandFor({ options, firestore }, "inspect", "likes:post42")).toBe(
    "npx firestore-tally inspect likes:post42 --project shop --emulator 127.0.0.1:8080",
  );
});

test.each(["likes:post42", "a b", "it's", "$HOME `id`", "x;y", "日本"])("a shell reads the id %j as one word", (id) => {
  const command = commandFor({ options: { projectId: "shop" } }, "inspect", id);
  const shell = `npx() { printf '%s' "$3"; }\n${command}`;
  expect(execFileSync("sh", ["-c", shell], { encoding: "utf8" })).toBe(id);
});

test("an id that begins with a hyphen stands behind the options", () => {
  expect(commandFor({ options: { projectId: "shop" } }, "inspect", "-x")).toBe(
    "npx firestore-tally inspect --project shop -- -x",
  );
});
