/** Values of parameters: lists, and the error for a value that is not accepted. */
import { CounterError } from "../../../core/src/index.ts";

/** The items of a parameter that is a list with commas. */
export function listItems(list: string): string[] {
  return list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

export function invalidParameter(name: string, value: unknown, accepted: string): CounterError {
  const shown = typeof value === "string" ? JSON.stringify(value) : value;
  return new CounterError("counter/invalid-config", `${name} is ${shown}; set it to ${accepted}`);
}
