import { expect, test } from "vitest";
import { append, readJson, removeIn, setIn, wrapInList } from "./json.ts";

const FILE = `{
  // the app's own
  "a": { "b": [1, 2] },
  "list": [
    { "x": 1 } // the first
  ],
  "empty": [],
  "last": true
}
`;

test("an item is added where its neighbours are, and nothing else changes", () => {
  expect(append(FILE, ["list"], { y: 2 })).toBe(
    FILE.replace('{ "x": 1 } // the first', '{ "x": 1 },\n    { "y": 2 } // the first'),
  );
  expect(append(FILE, ["empty"], 1)).toBe(FILE.replace('"empty": []', '"empty": [\n    1\n  ]'));
  expect(setIn(FILE, ["new", "deep"], 1)).toBe(FILE.replace("true\n", 'true,\n  "new": { "deep": 1 }\n'));
  expect(setIn(FILE, ["a", "b"], "c")).toBe(FILE.replace("[1, 2]", '"c"'));
});

test("what was added can be removed again, to the last character", () => {
  for (const path of [["new"], ["a", "c"], ["list", "0", "z"]]) {
    const numbered = path.map((key) => (key === "0" ? 0 : key));
    const added = setIn(FILE, numbered, { some: "thing" });
    expect(added).not.toBe(FILE);
    expect(readJson("f", removeIn(added, numbered))).toEqual(readJson("f", FILE));
  }
  expect(removeIn(append(FILE, ["list"], 1), ["list", 1])).toBe(FILE);
  expect(removeIn(FILE, ["absent"])).toBe(FILE);
  expect(removeIn(FILE, ["a", "b", 0])).toBe(FILE.replace("1, 2", "2"));
  expect(removeIn('{ "only": 1 }', ["only"])).toBe("{}");
});

test("indentation and line ends are those of the file", () => {
  const crlf = '{\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n';
  expect(append(crlf, ["a"], 2)).toBe('{\r\n\t"a": [\r\n\t\t1,\r\n\t\t2\r\n\t]\r\n}\r\n');
  const long = { name: "x".repeat(200) };
  expect(setIn(crlf, ["b"], long)).toContain(`"b": {\r\n\t\t"name": "${long.name}"\r\n\t}`);
});

test("a value becomes a list of one", () => {
  expect(wrapInList(FILE, ["a"])).toBe(FILE.replace('{ "b": [1, 2] }', '[{ "b": [1, 2] }]'));
});

test.each(["", "[]", "{", '{ "a": 1, }', "null"])("%j is refused", (text) => {
  expect(() => readJson("firebase.json", text)).toThrow("firebase.json is no JSON object");
});
