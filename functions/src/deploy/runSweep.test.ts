import { afterEach, expect, test, vi } from "vitest";
import type { Backend } from "../counter/backend.ts";
import { ALL_FEATURES } from "./allFeatures.ts";
import { runSweep } from "./runSweep.ts";

afterEach(() => vi.restoreAllMocks());

test("the sweep runs the part of each feature, though another never ends", () => {
  const backend = {} as Backend;
  const sweeps = ALL_FEATURES.filter(({ sweep }) => sweep).map((part) =>
    vi.spyOn(part as Required<typeof part>, "sweep").mockReturnValue(new Promise(() => {})),
  );
  void runSweep(backend);
  expect(sweeps.length).toBeGreaterThan(2);
  for (const sweep of sweeps) expect(sweep).toHaveBeenCalledExactlyOnceWith(backend);
});

test("the sweep fails if a part fails", async () => {
  for (const part of ALL_FEATURES) if (part.sweep) vi.spyOn(part as Required<typeof part>, "sweep").mockResolvedValue();
  vi.spyOn(ALL_FEATURES[0] as Required<(typeof ALL_FEATURES)[number]>, "sweep").mockRejectedValue(new Error("down"));
  await expect(runSweep({} as Backend)).rejects.toThrow("down");
});
