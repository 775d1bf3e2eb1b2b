/** A unit test without the emulator: two functions of the module are replaced. */
import { incrementCounter } from "firestore-tally";
import { expect, test, vi } from "vitest";
import { countView } from "../views/views.ts";

vi.mock("firestore-tally", () => ({
  counter: (_db: unknown, id: string) => ({ id }),
  incrementCounter: vi.fn(async () => {}),
}));

test("a view of the page is counted", async () => {
  await countView("home");
  expect(incrementCounter).toHaveBeenCalledWith({ id: "views:home" });
});
