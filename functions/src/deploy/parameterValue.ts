/** Values of parameters: lists, and the error for a value that is not accepted. */
import { CounterError } from "../../../core/src/index.ts";

/** The items of a parameter that is a list with commas. */
export function listItems(list: string, separator: string | RegExp = ","): string[] {
  return list
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Whether a text can be the email of an account. */
export function isEmail(text: string): boolean {
  return /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text);
}

export function invalidParameter(name: string, value: unknown, accepted: string): CounterError {
  const shown = typeof value === "string" ? JSON.stringify(value) : value;
  return new CounterError("counter/invalid-config", `${name} is ${shown}; set it to ${accepted}`);
}

/** @throws CounterError `counter/invalid-config` */
export function choiceOf<Choice extends string>(name: string, value: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw invalidParameter(name, value, choices.map((choice) => `"${choice}"`).join(" or "));
  return chosen;
}
