/**
 * The parameters of a deployment, as data: for the Firebase CLI, the manifest of the extension, the tables of docs/configuration.md and
 * `doctor`.
 */
import { CounterError } from "../../../core/src/index.ts";

export interface Parameter {
  /** As it is entered. */
  readonly default: string;
  /** Above its field in the form of the extension. */
  readonly label: string;
  readonly description: string;
  /** In the tables of docs/configuration.md: what is accepted, and who sets it. */
  readonly accepted: string;
  readonly setIf?: string;
  /** For a number. It is whole, unless there is a {@link pattern}. */
  readonly range?: readonly [from: number, to: number];
  /** All texts that are accepted. */
  readonly choices?: readonly string[];
  /** A regular expression for what is accepted, and what to say of anything else. The extension and the CLI check it as it is entered. */
  readonly pattern?: string;
  readonly invalid?: string;
  /** Whether the extension lacks it. */
  readonly isNotInExtension?: true;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** What was entered, by name. */
export type ParameterValues = Readonly<Record<string, string | number>>;

/** The values of parameters, checked as they are read. */
export class Values {
  readonly #parameters: Parameters;
  readonly #entered: ParameterValues;
  /** Whether the functions run in the emulator. */
  readonly isEmulated: boolean;
  /** The project of the functions, if it is known. */
  readonly project: string | undefined;

  constructor(parameters: Parameters, entered: ParameterValues, isEmulated = false, project?: string) {
    this.#parameters = parameters;
    this.#entered = entered;
    this.isEmulated = isEmulated;
    this.project = project;
  }

  text(name: string): string {
    return String(this.#entered[name] ?? this.#parameters[name]?.default);
  }

  /**
   * @param from  another lower bound than the parameter's
   * @throws CounterError `counter/invalid-config`
   */
  number(name: string, from = this.#parameters[name]?.range?.[0] ?? 0): number {
    const parameter = this.#parameters[name] as Parameter;
    const [, to] = parameter.range ?? [0, 0];
    const value = Number(this.text(name));
    const isWhole = isWholeNumber(parameter);
    if (value >= from && value <= to && (!isWhole || Number.isInteger(value))) return value;
    throw invalidParameter(name, value, `a ${isWhole ? "whole number" : "number"} from ${from} to ${to}`);
  }

  /** @throws CounterError `counter/invalid-config` */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
    const chosen = choices.find((choice) => choice === this.text(name).trim());
    if (chosen !== undefined) return chosen;
    throw invalidParameter(name, this.text(name), choices.map((choice) => `"${choice}"`).join(" or "));
  }

  /** @throws CounterError `counter/invalid-config` */
  isYes(name: string): boolean {
    return this.choice(name, YES_OR_NO) === "yes";
  }
}

export const YES_OR_NO = ["yes", "no"] as const;

/** The items of a parameter that is a list with commas. */
export function listItems(list: string, separator: string | RegExp = ","): string[] {
  return list
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** What the email of an account looks like, as a regular expression. */
export const EMAIL = "[^@\\s]+@[^@\\s]+\\.[^@\\s]+";

/** Whether a text can be the email of an account. */
export function isEmail(text: string): boolean {
  return new RegExp(`^${EMAIL}$`).test(text);
}

/** Whether a parameter is a whole number. One with decimals has a pattern. */
export function isWholeNumber({ range, pattern }: Parameter): boolean {
  return range !== undefined && pattern === undefined;
}

export function invalidParameter(name: string, value: unknown, accepted: string): CounterError {
  const shown = typeof value === "string" ? JSON.stringify(value) : value;
  return new CounterError("counter/invalid-config", `${name} is ${shown}; set it to ${accepted}`);
}

/** @throws CounterError `counter/invalid-config` if a path is below the counters: it would trigger the functions endlessly */
export function assertOutside(collection: string, name: string, path: readonly string[]): void {
  if (path[0] !== collection) return;
  const value = JSON.stringify(path.join("/"));
  throw new CounterError("counter/invalid-config", `${name}: ${value} is below COLLECTION; name another path`);
}

/** The regular expression for a text that is accepted, and what to say of any other. `undefined` for a whole number, and for any text. */
export function patternOf({
  pattern,
  invalid = "",
  choices,
}: Parameter): { text: string; invalid: string } | undefined {
  if (pattern !== undefined) return { text: pattern, invalid };
  if (!choices) return undefined;
  const [last, ...others] = choices.toReversed();
  return { text: `^(${choices.join("|")})$`, invalid: `Enter ${others.toReversed().join(", ")} or ${last}.` };
}
