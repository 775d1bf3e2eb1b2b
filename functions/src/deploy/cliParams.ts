/** The parameters as the Firebase CLI asks for them, and the configuration that their values set. */
import { defineInt, defineString } from "firebase-functions/params";
import type { CounterConfig } from "../counter/types.ts";
import { FEATURE_PLANS } from "../features/plans.ts";
import { isWholeNumber, type Parameter, type ParameterValues, patternOf } from "../shared/parameters.ts";
import { packaging } from "./packaging.ts";
import { PARAMETERS, parseConfig } from "./parameters.ts";

type Param = ReturnType<typeof defineText> | ReturnType<typeof defineWhole>;

const params: ReadonlyMap<string, Param> = new Map(
  Object.entries(PARAMETERS).map(([name, parameter]) => [
    name,
    isWholeNumber(parameter) ? defineWhole(name, parameter) : defineText(name, parameter),
  ]),
);

function defineText(name: string, parameter: Parameter) {
  const pattern = patternOf(parameter);
  const input = pattern && { text: { validationRegex: pattern.text, validationErrorMessage: pattern.invalid } };
  return defineString(name, {
    default: parameter.default,
    description: parameter.description,
    ...(input && { input }),
  });
}

function defineWhole(name: string, { default: value, description }: Parameter) {
  return defineInt(name, { default: Number(value), description });
}

/** A parameter that is a text. */
export function textParam(name: string): ReturnType<typeof defineText> {
  return params.get(name) as ReturnType<typeof defineText>;
}

/** A parameter that is a whole number. */
export function wholeParam(name: string): ReturnType<typeof defineWhole> {
  return params.get(name) as ReturnType<typeof defineWhole>;
}

/** Not to be called at import time, when parameters have no values. @throws CounterError `counter/invalid-config` */
export function deployedConfig(): CounterConfig {
  const { FUNCTIONS_EMULATOR, GCLOUD_PROJECT } = process.env;
  const settings = parseConfig(deployedValues(), FUNCTIONS_EMULATOR !== undefined, GCLOUD_PROJECT);
  return { ...settings, plans: FEATURE_PLANS };
}

function deployedValues(): ParameterValues {
  const isExtension = packaging() === "extension";
  const set = [...params].filter(([name]) => !(isExtension && PARAMETERS[name]?.isNotInExtension));
  return Object.fromEntries(set.map(([name, param]) => [name, param.value()]));
}
