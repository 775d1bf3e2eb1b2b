/** `remove` deletes Tally's files, and leaves files that only have their names. */
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { APP, createProject, including, json } from "../../testing/setupProject.ts";

describe("what is Tally's", () => {
  const OTHERS = { "tally/package.json": '{ "name": "bets" }\n', "tally/index.js": "exports.bet = 1;\n" };

  test("is known by content: a codebase or a folder of the same name stays, whatever is run", async () => {
    const functions = { codebase: "tally", source: "tally", runtime: "nodejs22" };
    for (const others of [
      { ...OTHERS, "firebase.json": JSON.stringify({ functions }) },
      { ...OTHERS, "firebase.json": JSON.stringify({ functions: [functions, { codebase: "x", source: "x" }] }) },
      { "tally/index.js": OTHERS["tally/index.js"], "firebase.json": "{}" },
      { "bets/index.js": "", "firebase.json": JSON.stringify({ functions: { ...functions, source: "bets" } }) },
      { "firebase.json": JSON.stringify({ functions: { ...functions, predeploy: ["npm run build:tally"] } }) },
    ]) {
      const { init, remove, files } = createProject({ ...APP, ...others });
      const before = files();
      await expect(init()).rejects.toThrow(/not Tally's.*--as kit/s);
      expect(files()).toEqual(before);
      await init({ as: "kit" });
      expect(files()).toMatchObject(
        others["firebase.json"] === "{}"
          ? { "tally/index.js": expect.anything() }
          : { ...others, "firebase.json": expect.anything() },
      );
      expect((await remove()).notes).toEqual(expect.arrayContaining(including("no codebase of Tally")));
      for (const [path, text] of Object.entries(others)) if (path !== "firebase.json") expect(files()[path]).toBe(text);
      expect(json(files()["firebase.json"] as string).functions).toEqual(json(others["firebase.json"]).functions);
    }
  });

  test("is found under another name, and with functions of the app's own it stays whole", async () => {
    const { init, remove, upgrade, edit, at, write, files } = createProject();
    await init();
    renameSync(at("tally"), at("counting"));
    edit("firebase.json", '"codebase": "tally"', '"codebase": "counts"');
    edit("firebase.json", '"source": "tally"', '"source": "./counting"');
    expect((await init()).paths).toEqual([]);
    expect((await upgrade()).paths).toEqual([]);
    mkdirSync(at("counting/node_modules/firestore-tally-kit"), { recursive: true });
    const whole = files();
    for (const [path, from, to] of [
      ["index.js", /$/, "export const own = 1;\n"],
      ["package.json", '"firebase-admin"', '"left-pad": "^1.0.0", "firebase-admin"'],
      [".env", /$/, "_own=1\n"],
    ] as const) {
      edit(`counting/${path}`, from, to);
      const { notes } = await remove();
      expect(notes).toEqual(
        expect.arrayContaining(including(`counting/ stays, because it has more than Tally's files: ${path}`)),
      );
      expect(files()).toMatchObject({
        "counting/node_modules/firestore-tally-kit/": "",
        "firebase.json": whole["firebase.json"],
      });
      write(`counting/${path}`, whole[`counting/${path}`] as string);
    }
    for (const name of [".envrc", ".env.example"]) {
      write(`counting/${name}`, "# mine\n");
      expect((await remove()).notes).toEqual(expect.arrayContaining(including(name)));
      rmSync(at(`counting/${name}`));
    }
    edit("counting/.env", /$/, "EVENTARC_CHANNEL=locations/us-central1/channels/firebase\n");
    await remove();
    expect(Object.keys(files()).filter((path) => path.startsWith("counting"))).toEqual([]);
    expect(json(files()["firebase.json"] as string).functions).toBeUndefined();
  });
});
