/** In place of `re2js`, with which Firestore evaluates the regular expressions of pipelines. The page has no pipelines. */
export const RE2JS = {
  compile(): never {
    throw new Error("This page was built without the regular expressions of pipelines: see vite.config.ts.");
  },
};
