/** The rules around Tally's in the file of an app that has none. `remove` takes them out, too, because they do not compile without a match. */
import { parseDeclarations } from "../../rulesSyntax/declarations.ts";
import { lineEndOf } from "./lines.ts";

/** Its comment tells it from a block that an app has emptied. */
function skeleton(eol: string): string {
  return [
    "rules_version = '2';",
    "",
    "service cloud.firestore {",
    "  match /databases/{database}/documents {",
    "    // Your own rules stand here. What no rule allows is refused.",
    "  }",
    "}",
    "",
  ].join(eol);
}

export function hasRules(source: string): boolean {
  const { declarations, version, problems } = parseDeclarations(source);
  return declarations.length > 0 || version !== undefined || problems.length > 0;
}

/** @param comments  a file without code */
export function withSkeleton(comments: string): string {
  const eol = lineEndOf(comments);
  return comments === "" ? skeleton(eol) : comments + eol + skeleton(eol);
}

export function withoutSkeleton(source: string): string {
  const written = skeleton(lineEndOf(source));
  return source.endsWith(written) ? source.slice(0, -written.length).replace(/\r?\n$/, "") : source;
}

/** Rules that let no client read or write: without any, a deployment fails. @param comments  a file without code */
export function withClosedRules(comments: string): string {
  const eol = lineEndOf(comments);
  const lines = [
    "rules_version = '2';",
    "",
    "service cloud.firestore {",
    "  match /databases/{database}/documents {",
    "    match /{document=**} {",
    "      allow read, write: if false;",
    "    }",
    "  }",
    "}",
    "",
  ];
  return (comments === "" ? "" : comments + eol) + lines.join(eol);
}
