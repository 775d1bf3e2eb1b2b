/** Rules files of apps, in all the shapes that Tally's rules must fit into: for unit tests and for `test/rules/composed.test.ts`. */

export interface AppRules {
  readonly name: string;
  readonly source: string | undefined;
  /** Part of the reason, if the file must stay as it is. */
  readonly refused?: RegExp;
  /** Parts of the warnings, one each. */
  readonly warns?: readonly RegExp[];
  readonly limits?: true;
}

const POSTS = `    match /posts/{post} {
      allow read: if true;
      allow write: if request.auth != null;
      match /comments/{comment} {
        allow read: if request.auth.uid == 'alice';
      }
    }
`;

/** The usual file around some matches. */
function usual(matches: string, version = "rules_version = '2';\n"): string {
  return `${version}service cloud.firestore {\n  match /databases/{database}/documents {\n${matches}  }\n}\n`;
}

const indentedBy = (source: string, indent: string) =>
  source.replace(/^(?: {2})+/gm, (own) => indent.repeat(own.length / 2));

const STARTER = "match /{document=**} {\n      allow read, write: if";

/** Of Firebase's recipe for counters: https://firebase.google.com/docs/firestore/solutions/counters */
const RECIPE = `    match /counters/{counter} {
      allow read: if true;
      match /shards/{shard} {
        allow read, write: if request.auth != null;
      }
    }
`;

export const APP_RULES: readonly AppRules[] = [
  { name: "no file", source: undefined },
  { name: "an empty file", source: "" },
  { name: "an empty line", source: "\n" },
  { name: "comments alone", source: "// Rules of the app\n/* to be\n   written */\n" },
  { name: "a comment without a line end", source: "// Rules of the app" },
  { name: "comments alone, CRLF", source: "// Rules of the app\r\n\r\n" },
  { name: "the usual file", source: usual(POSTS) },
  { name: "the usual file with limits", source: usual(POSTS), limits: true },
  { name: "an empty line at the end of the block", source: usual(`${POSTS}\n`) },
  { name: "four spaces", source: indentedBy(usual(POSTS), "    ") },
  { name: "tabs", source: indentedBy(usual(POSTS), "\t") },
  { name: "CRLF", source: usual(POSTS).replaceAll("\n", "\r\n") },
  { name: "CRLF in one line of several", source: usual(POSTS).replace("\n  match", "\r\n  match") },
  { name: "no indentation", source: usual(POSTS).replace(/^ +/gm, "") },
  { name: "no line end at the end", source: usual(POSTS).trimEnd() },
  { name: "one line", source: usual(POSTS).replace(/\s+/g, " ") },
  {
    name: "one line without needless spaces",
    source: usual(POSTS)
      .replace(/\s+/g, " ")
      .replace(/ ?([{};]) ?/g, "$1"),
  },
  { name: "closing brackets on one line", source: usual(POSTS).replace(/\s*\}\n\s*\}\n$/, " }}\n") },
  { name: "a comment after the last match", source: usual(POSTS.replace(/\n$/, " // } the end\n")) },
  { name: "a comment before the closing bracket", source: usual(POSTS).replace(/ {2}\}\n\}\n$/, "  /* } */ }\n}\n") },
  {
    name: "double quotes and no semicolons",
    source: usual(POSTS)
      .replace(/;(?=\n)/g, "")
      .replaceAll("'", '"'),
  },
  { name: "another name of the wildcard", source: usual(POSTS).replace("{database}", "{db}") },
  { name: "a wildcard with a name of Tally's", source: usual(POSTS).replace("{database}", "{counter}") },
  {
    name: "a wildcard with a name of Tally's, with limits",
    source: usual(POSTS).replace("{database}", "{limit}"),
    limits: true,
    warns: [/isWithinLimit/],
  },
  { name: "the default database alone", source: usual(POSTS).replace("{database}", "(default)") },
  {
    name: "matches with whole paths",
    source: `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents/posts/{post} {
    allow read;
    allow write: if request.auth.uid == 'alice';
  }
  match /databases/{database}/documents/posts/{post}/comments/{comment} { allow read: if false; }
}
`,
  },
  {
    name: "a match in two steps",
    source: usual(POSTS)
      .replace("/databases/{database}/documents", "/databases/{database} { match /documents")
      .replace(/\n$/, "}\n"),
  },
  {
    name: "two blocks of documents",
    source: usual(`${POSTS}  }\n  match /databases/{db}/documents {\n    match /private/{id} { allow read; }\n`),
  },
  {
    name: "rules of Storage before, which are no place",
    source: usual(POSTS).replace(
      "service",
      "service firebase.storage {\n  match /b/{bucket}/o {\n    match /{all=**} { allow read, write; }\n  }\n}\n\nservice",
    ),
  },
  {
    name: "rules of Storage after",
    source: `${usual(POSTS)}service firebase.storage { match /b/{bucket}/o { match /counters/{all=**} { allow read, write; } } }`,
  },
  {
    name: "functions with the names of Tally's",
    source: `${usual(`    function isOpen() { return request.auth != null; }
    function counterGroup() { return 'likes'; }
    function isVisitor(a) { return a; }
    match /private/{id} { allow read: if isOpen() && counterGroup() == 'likes' && isVisitor(true); }
${POSTS}`)}`.replace(
      "service",
      "function isEntry() { return true; }\nfunction hasEntries() { return isEntry(); }\nservice",
    ),
  },
  {
    name: "a function within a match with the name of a limit's",
    source: usual(
      `${POSTS}    match /private/{id} {\n      function isRested(a) { return a != null; }\n      allow read: if isRested(request.auth);\n    }\n`,
    ),
    limits: true,
  },
  {
    name: "a function with the name of a limit's",
    source: usual(`    function isRested() { return true; }\n${POSTS}`),
    limits: true,
    refused: /^line 4: your function `isRested` .* Rename yours/,
  },
  {
    name: "a function of the service with the name of a limit's",
    source: usual(POSTS).replace("{\n", "{\n  function isPaidByUse(a, b, c) { return true; }\n"),
    limits: true,
    refused: /^line 3: your function `isPaidByUse`/,
  },
  {
    name: "what looks like markers",
    source: usual(`    // see <tally 0.1.0 01234567> below
    // <tally> and <tallyho>
    /* // <tally 0.1.0 01234567> */
    match /private/{id} { allow read: if id != '// <tally 0.1.0 01234567>' && id != "// </tally>"; }
    /*
    // </tally>
    */
${POSTS}`),
  },
  {
    name: "brackets and comments in strings",
    source: usual(
      `${POSTS}    match /private/{id} {\n      allow read: if id != '}' && id != "it's // { /*" && id != 'it\\'s }' && !id.matches('a{1,3}\\\\\\\\') && {'a': {'b': 1}}.a.b == 1; // }\n    } /* { } } */\n`,
    ),
  },
  {
    name: "a path of keywords",
    source: usual(
      `${POSTS}    match /private/{id} { allow read: if /match/allow != /function/$(id)/match allow write: if false }\n`,
    ),
  },
  { name: "version 2 in double quotes, without a semicolon", source: usual(POSTS, 'rules_version="2"\n') },
  { name: "version 2 below a comment", source: `// The rules of the app\n${usual(POSTS)}` },
  {
    name: "a collection group",
    source: usual(`${POSTS}    match /{path=**}/comments/{comment} { allow read: if true; }\n`),
  },
  { name: "a starter file that is closed", source: usual(`    ${STARTER} false;\n    }\n`) },
  {
    name: "a starter file that is open",
    source: usual(`    ${STARTER} request.auth != null;\n    }\n`),
    warns: [/^line 4: `allow read, write` of match \/\{document=\*\*\} lets every client write documents of Tally/],
  },
  {
    name: "a starter file in the service",
    source: `rules_version = '2';\nservice cloud.firestore {\n  match /{document=**} { allow read, write: if request.auth.uid == 'alice'; }\n}\n`,
    warns: [/^line 3: .* lets clients for which .* holds write documents of Tally/],
  },
  {
    name: "reads of everything",
    source: usual(`    match /{document=**} { allow read; }\n`),
    warns: [/^line 4: .* lets every client read/],
  },
  {
    name: "the recipe's counters",
    source: usual(RECIPE + POSTS),
    refused: /^your rules let clients write .*: match \/counters\/\{counter\}\/shards\/\{shard\} \(line 6\)\. Delete /,
  },
  {
    name: "counters that all may read",
    source: usual(`    match /counters/{id} { allow read; allow write: if false; }\n${POSTS}`),
    warns: [/^line 4: .* \/counters\/\{id\} lets every client read/],
  },
  {
    name: "documents of the app's own below counters",
    source: usual(`    match /counters/{id}/notes/{note} { allow write; }\n${POSTS}`),
  },
  { name: "version 1", source: usual(POSTS, ""), refused: /version 1, .*first line\. No match of yours has `=\*\*`/ },
  {
    name: "version 1, with wildcards for several segments",
    source: usual(`${POSTS}    match /a/{all=**} { allow read; }\n`, "rules_version = '1';\n"),
    refused: /version 1, .*\(line 11\)/,
  },
  {
    name: "an open bracket",
    source: usual(POSTS).replace(/\}\n$/, ""),
    refused: /^the file cannot be read.* line 2: `\{` is not closed/,
  },
  { name: "a bracket too many", source: `${usual(POSTS)}}\n`, refused: /line 13: `\}` closes nothing/ },
  { name: "an open comment", source: `${usual(POSTS)}/* more`, refused: /line 13: `\/\*` is not closed/ },
  { name: "an open string", source: usual(POSTS).replace("'alice'", "'alice"), refused: /line 8: `'` is not closed/ },
  {
    name: "another language",
    source: '{\n  "rules": { ".read": true }\n}\n',
    refused: /line 1: `\{` begins no statement/,
  },
  {
    name: "no rules of Firestore",
    source:
      "rules_version = '2';\nservice firebase.storage { match /b/{bucket}/o { match /{all=**} { allow read; } } }",
    refused: /no `service cloud.firestore/,
  },
  {
    name: "a closing marker alone",
    source: usual(`${POSTS}    // </tally>\n`),
    refused: /markers .* damaged \(line 11\)/,
  },
  {
    name: "an opening marker alone",
    source: usual(`    // <tally 0.1.0 01234567>\n${POSTS}`),
    refused: /markers .* damaged \(line 4\)/,
  },
];
