/** The functions of a deployment, by name: those of the counter, and of each feature. */
import type { TaskKinds } from "../counter/cause.ts";
import type { FunctionPlan } from "../shared/feature.ts";
import { PARAMETERS, PLANS } from "./parameters.ts";

/** A function that one feature needs, or several. */
export interface DeclaredFunction extends Omit<FunctionPlan, "unless"> {
  /** It is not deployed while all these parameters have their defaults; empty: it is always deployed. */
  readonly unless: readonly string[];
}

export const FUNCTIONS: ReadonlyMap<string, DeclaredFunction> = declaredFunctions();

function declaredFunctions(): ReadonlyMap<string, DeclaredFunction> {
  const declared = new Map<string, DeclaredFunction>();
  for (const [name, { unless, ...one }] of PLANS.flatMap(({ functions = {} }) => Object.entries(functions))) {
    declared.set(name, { ...one, unless: [...(declared.get(name)?.unless ?? []), ...(unless ? [unless] : [])] });
  }
  return declared;
}

/** Whether the parameters ask for a function. @param values  those that are set */
export function isAskedFor(
  { unless }: DeclaredFunction,
  values: Readonly<Record<string, string | undefined>>,
): boolean {
  return (
    unless.length === 0 || unless.some((name) => ![undefined, "", PARAMETERS[name]?.default].includes(values[name]))
  );
}

/** The function, and so the queue, that runs the tasks of each kind: many tasks of a feature delay no measurement. */
export const FUNCTION_OF_TASK: ReadonlyMap<keyof TaskKinds, string> = new Map(
  PLANS.flatMap(({ functions = {} }) => Object.entries(functions)).flatMap(([name, { trigger }]) =>
    trigger.on === "task" ? trigger.kinds.map((kind) => [kind, name] as const) : [],
  ),
);
