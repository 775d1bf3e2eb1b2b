/** The functions of a deployment, by name: those of the counter, and of each feature. */
import type { TaskKinds } from "../counter/cause.ts";
import type { FunctionPlan, Trigger } from "../shared/feature.ts";
import { ALL_PLANS, PARAMETERS } from "./parameters.ts";

/** A function that one feature needs, or several. */
export interface DeclaredFunction extends Omit<FunctionPlan, "askedForBy"> {
  /** It is deployed if one of these parameters differs from its default; empty: always. */
  readonly askedForBy: readonly string[];
}

export const FUNCTIONS: ReadonlyMap<string, DeclaredFunction> = declaredFunctions();

function declaredFunctions(): ReadonlyMap<string, DeclaredFunction> {
  const all = new Map<string, DeclaredFunction>();
  for (const [name, { askedForBy, trigger, ...one }] of ALL_PLANS.flatMap(({ functions = {} }) =>
    Object.entries(functions),
  )) {
    const before = all.get(name);
    all.set(name, {
      ...one,
      trigger: withAllKinds(before?.trigger, trigger),
      askedForBy: [...(before?.askedForBy ?? []), ...(askedForBy ? [askedForBy] : [])],
    });
  }
  return all;
}

/** A queue that features share runs the tasks of all. */
function withAllKinds(before: Trigger | undefined, own: Trigger): Trigger {
  return before?.on === "task" && own.on === "task" ? { ...own, kinds: [...before.kinds, ...own.kinds] } : own;
}

/** Whether the parameters ask for a function. @param values  those that are set */
export function isAskedFor(
  { askedForBy }: DeclaredFunction,
  values: Readonly<Record<string, string | undefined>>,
): boolean {
  const isSet = (name: string) => (values[name] ?? "") !== "" && values[name] !== PARAMETERS[name]?.default;
  return askedForBy.length === 0 || askedForBy.some(isSet);
}

/** Kind of task → the function that runs it. Each such function has its own queue, so the tasks of a feature never delay a measurement. */
export const FUNCTION_OF_TASK: ReadonlyMap<keyof TaskKinds, string> = new Map(
  [...FUNCTIONS].flatMap(([name, { trigger }]) =>
    trigger.on === "task" ? trigger.kinds.map((kind) => [kind, name] as const) : [],
  ),
);
