import { afterEach, expect, test, vi } from "vitest";
import type { Backend } from "../counter/backend.ts";
import { PARTS } from "./parts.ts";
import { runSweep } from "./runSweep.ts";

afterEach(() => vi.restoreAllMocks());

test("the sweep runs the part of each feature, though another never ends", () => {
  const backend = {} as Backend;
  const sweeps = PARTS.filter(({ sweep }) => sweep).map((part) =>
    vi.spyOn(part as Required<typeof part>, "sweep").mockReturnValue(new Promise(() => {})),
  );
  void runSweep(backend);
  expect(sweeps.length).toBeGreaterThan(2);
  for (const sweep of sweeps) expect(sweep).toHaveBeenCalledExactlyOnceWith(backend);
});

test("the sweep fails if a part fails", async () => {
  for (const part of PARTS) if (part.sweep) vi.spyOn(part as Required<typeof part>, "sweep").mockResolvedValue();
  vi.spyOn(PARTS[0] as Required<(typeof PARTS)[number]>, "sweep").mockRejectedValue(new Error("down"));
  await expect(runSweep({} as Backend)).rejects.toThrow("down");
});
