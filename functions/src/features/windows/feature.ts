/** The field `windows` of a counter document. */
import type { Feature } from "../../counter/types.ts";
import { parseWindows, serializeWindows } from "./fields.ts";
import { windowsPlan } from "./windows.ts";

export const windows: Feature = {
  ...windowsPlan,
  parse: (document) => ({ windows: parseWindows(document.get("windows")) }),
  contribute: (_state, next) => ({ fields: { windows: next.windows && serializeWindows(next.windows) } }),
};
