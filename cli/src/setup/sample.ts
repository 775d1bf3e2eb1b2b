/** The first calls of an app: a view counter and a like, for its framework. */
import { packaged } from "./packaged.ts";
import { type Framework, frameworkOf, type Project } from "./project.ts";

const SAMPLES: Readonly<Partial<Record<Framework, string>>> = {
  React: "counters.tsx",
  "a browser": "counters.ts",
  "a server": "server.ts",
};

/** Types in the samples, each of which may be left out in JavaScript. */
const TYPES =
  /: \{ \w+: string(; \w+: string)* \}|: \(\w+: \w+\) => void|: Promise<\w+>( \| undefined)?|: string\b|: number\b|<string>/g;

/**
 * @param groups  the groups of the view counter and of the like
 * @returns       the path and the text of the sample; `undefined` if there is no app, or it has the file
 */
export function sampleFor(
  project: Pick<Project, "dependencies" | "has">,
  groups: { readonly views: string | undefined; readonly likes: string | undefined },
) {
  const source = SAMPLES[frameworkOf(project)];
  const { views, likes } = groups;
  if (!source || views === undefined || likes === undefined) return undefined;
  const isTypeScript = project.has("tsconfig.json") || "typescript" in project.dependencies;
  const extension = source.endsWith("x") ? (isTypeScript ? "tsx" : "jsx") : isTypeScript ? "ts" : "js";
  const path = `${project.has("src") ? "src/" : ""}counters.${extension}`;
  if (project.has(path)) return undefined;
  const typed = packaged(`samples/${source}`).replaceAll("`views:", `\`${views}:`).replaceAll("`likes:", `\`${likes}:`);
  return { path, text: isTypeScript ? typed : typed.replaceAll(TYPES, "") };
}
