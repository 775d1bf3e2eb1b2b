import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { address, count, number, share, span } from "./values.ts";

test("options are read as people write them", () => {
  expect([number("1,000"), number("1_000_000"), number("-0.5"), count("3")]).toEqual([1_000, 1_000_000, -0.5, 3]);
  expect([share("30%"), share("0.3"), span("15m"), span("1.5h")]).toEqual([0.3, 0.3, 900_000, 5_400_000]);
  expect([address("localhost:8080"), address("[::1]:8080")]).toEqual(["localhost:8080", "[::1]:8080"]);
});

test.each<[(text: string) => unknown, string[]]>([
  [number, ["", " ", "x", "Infinity", "1e999"]],
  [count, ["0", "1.5", "-1"]],
  [share, ["1.5", "130%", "-1%", "%"]],
  [span, ["15", "m", "-1h", "1w"]],
  [address, ["localhost", "likes:post42", "localhost:", ":8080", "http://localhost:8080"]],
])("%o refuses the rest", (read, texts) => {
  for (const text of texts) expect(() => read(text), text).toThrow(InvalidArgumentError);
});
