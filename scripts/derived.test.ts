import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DERIVED } from "./derived.ts";

test.each(Object.entries(DERIVED))(
  "%s says what the features' plans say; to renew it: npm run derive",
  (file, derive) => {
    const text = readFileSync(file, "utf8");
    expect(text).toBe(derive(text));
  },
);
