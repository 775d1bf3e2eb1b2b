/**
 * The first calls of an app: a view counter and a like, for its SDK and framework. Each sample names its counters in one place, the
 * function `counterOf`. So another database or collection changes one line.
 */
import { DEFAULT_COLLECTION } from "../../../core/src/index.ts";
import { PAGES, packaged } from "./packaged.ts";
import { type App, type Framework, frameworkOf } from "./project.ts";

const SAMPLES: Readonly<Partial<Record<Framework, string>>> = {
  React: "react.tsx",
  "React Native": "reactNative.tsx",
  "a browser": "browser.ts",
  "a server": "server.ts",
};

/** How a sample names a counter. */
const REFERENCE = "counter(getFirestore(), id)";

/** Types in the samples, each of which may be left out in JavaScript. */
const TYPES =
  /: \{ \w+: string(; \w+: string)* \}|: \(\w+: \w+\) => void|: Promise<\w+>( \| undefined)?|: string\b|: number\b|<string( \| null)?>/g;

export interface SampleChoice {
  /** The group of the view counter. */
  readonly views: string | undefined;
  /** The group of the like. */
  readonly likes: string | undefined;
  readonly database: string;
  readonly collection: string;
}

/** A file to write; or none, with a note if the app needs to know why. */
export type Sample = { readonly path: string; readonly text: string } | { readonly note?: string };

export function sampleFor(app: Pick<App, "dependencies" | "has">, choice: SampleChoice): Sample {
  const framework = frameworkOf(app);
  if (framework === "React Native Firebase")
    return {
      note:
        "there is no sample for @react-native-firebase: Tally's client imports firebase/firestore. Install firebase, or let Metro " +
        `replace that module: ${PAGES}/compatibility.md#react-native`,
    };
  const source = SAMPLES[framework];
  const { views, likes } = choice;
  if (!source || views === undefined || likes === undefined) return {};
  const isTypeScript = app.has("tsconfig.json") || "typescript" in app.dependencies;
  const extension = source.endsWith("x") ? (isTypeScript ? "tsx" : "jsx") : isTypeScript ? "ts" : "js";
  const path = `${app.has("src") ? "src/" : ""}counters.${extension}`;
  if (app.has(path)) return {};
  const typed = packaged(`samples/${source}`)
    .replaceAll("`views:", `\`${views}:`)
    .replaceAll("`likes:", `\`${likes}:`)
    .replace(REFERENCE, () => referenceTo(choice));
  return { path, text: isTypeScript ? typed : typed.replaceAll(TYPES, "") };
}

function referenceTo({ database, collection }: SampleChoice): string {
  const databaseId = database === "(default)" ? "" : JSON.stringify(database);
  const options = collection === DEFAULT_COLLECTION ? "" : `, { collection: ${JSON.stringify(collection)} }`;
  return `counter(getFirestore(${databaseId}), id${options})`;
}
